import { extname } from 'node:path/posix';
import { MAX_PATH } from './skill';

const SKILL_FILE = /^skill\.md$/i;

/** Whether the last part of a path is `SKILL.md`, in any case. */
export const isSkillFile = (path: string): boolean => SKILL_FILE.test(path.slice(path.lastIndexOf('/') + 1));

/** Controls, ends of lines, and characters that nobody sees; but for joiners and selectors, which words and emoji have. */
const INVISIBLE =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u{e0000}-\u{e007f}]/u;

/** What is wrong with the length of a path, as the end of a sentence. */
export const pathLengthFault = (path: string, longest = MAX_PATH): string | undefined =>
  path.length > longest ? `has a path of more than ${longest} characters. Shorten it.` : undefined;

/** What is wrong with the path of a file, as the end of a sentence. Undefined where it may stand below any folder. */
export const pathFault = (path: string, longest = MAX_PATH): string | undefined => {
  if (path === '') return 'has no name. Name every file.';
  const fault = pathLengthFault(path, longest);
  if (fault !== undefined) return fault;
  if (!path.isWellFormed() || INVISIBLE.test(path)) return 'has invisible characters in its path. Rename it.';
  if (path.includes('\\')) return 'has a backslash in its path. Use / between folders.';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'has an absolute path. Make it relative.';
  if (/^~[^/]*\//.test(path)) return 'has a path that begins with ~, the folder of a user. Make it relative.';
  if (/(?:^|\/)\.{0,2}(?:\/|$)/.test(path)) return 'has a path with an empty part, . or .. in it. Name the folders.';
  return isOtherOnWindows(path) ? 'has a name that stands for something else on Windows. Rename it.' : undefined;
};

/** Devices of Windows, in any folder and with any ending. */
const DEVICE = /(?:^|\/)(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ ]*(?:[./]|$)/i;

/** Whether a name, or one in a path, is that of a device of Windows. */
export const isDevice = (path: string): boolean => DEVICE.test(path);

/** Whether Windows opens a device, a hidden stream of a file, or the file without the dots and spaces at its end. */
const isOtherOnWindows = (path: string): boolean => isDevice(path) || path.includes(':') || /[. ](?:\/|$)/.test(path);

/** What file managers leave behind. */
const JUNK = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/i;

/** Whether a file is one that file managers leave behind, which archives are read without. */
export const isJunk = (path: string): boolean => JUNK.test(path);

/** What is wrong with the path of a reference file, relative to the folder of its Skill. */
export const referencePathFault = (path: string): string | undefined => {
  const fault = pathFault(path);
  if (fault !== undefined) return fault;
  if (SKILL_FILE.test(path)) return 'is the Skill itself. Change its instructions instead.';
  return isJunk(path) ? 'is called as what file managers leave behind, which no import keeps. Rename it.' : undefined;
};

/** The form in which paths are compared: two that are equal in it are one file on some systems. */
export const comparedPath = (path: string): string =>
  path.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');

const MEDIA_TYPES: Readonly<Record<string, string | undefined>> = {
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.py': 'text/x-python',
  '.sh': 'application/x-sh',
  '.svg': 'image/svg+xml',
  '.toml': 'application/toml',
  '.ts': 'text/plain',
  '.txt': 'text/plain',
  '.webp': 'image/webp',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
};

/** The media type of a file, by the ending of its name. */
export const mediaTypeOf = (path: string): string =>
  MEDIA_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';
