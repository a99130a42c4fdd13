import { extname } from 'node:path';

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const MACROS = 'macroEnabled.12';

const BY_ENDING: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'text/plain': 'txt text log',
    'text/markdown': 'md markdown mdx',
    'text/html': 'html htm',
    'application/xhtml+xml': 'xhtml',
    'application/json': 'json geojson',
    'application/x-ndjson': 'jsonl ndjson',
    'text/csv': 'csv',
    'text/tab-separated-values': 'tsv tab',
    'application/rtf': 'rtf',
    'message/rfc822': 'eml',
    'application/pdf': 'pdf',
    'application/epub+zip': 'epub',
    [`${OFFICE}.wordprocessingml.document`]: 'docx',
    [`${OFFICE}.spreadsheetml.sheet`]: 'xlsx',
    [`${OFFICE}.presentationml.presentation`]: 'pptx',
    [`application/vnd.ms-word.document.${MACROS}`]: 'docm',
    [`application/vnd.ms-excel.sheet.${MACROS}`]: 'xlsm',
    [`application/vnd.ms-powerpoint.presentation.${MACROS}`]: 'pptm',
    'image/jpeg': 'jpg jpeg',
    'image/png': 'png',
    'image/gif': 'gif',
    'image/webp': 'webp',
    'image/tiff': 'tif tiff',
  }).flatMap(([type, endings]) => endings.split(' ').map((ending) => [ending, type] as const)),
);

/** The media type that the ending of a name stands for, of the formats that are read. Undefined for source code and what is unknown. */
export const mediaTypeByName = (name: string): string | undefined =>
  BY_ENDING.get(extname(name).slice(1).toLowerCase());
