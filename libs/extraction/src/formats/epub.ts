import { type Archive, resolved } from '../archive';
import { decodeText } from '../encodings';
import { type Extraction, fail } from '../extraction';
import { TextBuilder } from '../text-builder';
import { readXml } from '../xml';
import { pageCharset, writeHtml } from './html';

const MAX_NAMES = 20;
const CONTAINER = 'META-INF/container.xml';

/** The chapters of a book in reading order. Chapters have headings, not pages: those depend on the reader. */
export const extractEpub = async (archive: Archive): Promise<Extraction> => {
  if (archive.has('META-INF/encryption.xml') && (await isProtected(archive))) fail('encrypted');
  const builder = new TextBuilder();
  const { names, chapters } = await bookOf(archive);
  for (const name of names) builder.prose(name);
  for (const chapter of chapters) {
    builder.heading(1, '');
    const page = await archive.read(chapter);
    writeHtml(builder, decodeText(page, 'malformed', pageCharset(page)));
  }
  return builder.build();
};

const bookOf = async (archive: Archive) => {
  let book: string | undefined;
  await readXml(archive, CONTAINER, {
    open: (name, attributes) => {
      if (name === 'rootfile') book ??= attributes['full-path'];
    },
  });
  if (book === undefined) return fail('malformed');
  const { items, spine, names } = await packageOf(archive, book);
  const chapters = spine.flatMap((id) => {
    const name = items.get(id);
    return name !== undefined && archive.has(name) ? [name] : [];
  });
  return { names, chapters };
};

const packageOf = async (archive: Archive, book: string) => {
  const items = new Map<string, string>();
  const spine: string[] = [];
  /** Title and authors. */
  const names: string[] = [];
  let text = '';
  await readXml(archive, book, {
    open: (name, { id, href, idref, 'media-type': type = '' }) => {
      if (name === 'item' && id !== undefined && href !== undefined && /html/.test(type))
        items.set(id, resolved(book, decoded(href)));
      else if (name === 'itemref' && idref !== undefined) spine.push(idref);
      text = '';
    },
    text: (piece) => {
      text += piece;
    },
    close: (name) => {
      if ((name === 'title' || name === 'creator') && names.length < MAX_NAMES) names.push(text);
      text = '';
    },
  });
  return { items, spine, names };
};

/** Fonts are often obfuscated; a book whose text is encrypted names other algorithms. */
const isProtected = async (archive: Archive): Promise<boolean> => {
  let found = false;
  await readXml(archive, 'META-INF/encryption.xml', {
    open: (name, { URI = '' }) => {
      if (name === 'CipherReference' && /\.x?html?$/i.test(URI)) found = true;
    },
  });
  return found;
};

const decoded = (href: string): string => {
  const [path = ''] = href.split('#');
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
};
