import { extname } from 'node:path';
import { normalisedName } from '@app/kernel';

/** Longest name in the archive, bytes of UTF-8: file systems take 255, and programs add to names. */
const MOST_BYTES = 200;
const MOST_ENDING_BYTES = 20;

/** Separators, what Windows rejects, controls, and characters that turn or hide text. */
const UNSAFE = /[/\\:*?"<>|\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;
/** Devices of Windows, whatever ending follows. */
const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\s*\..*)?$/i;

/**
 * Makes safe names for the files of an archive, in the given order: none leaves the target folder or names a device,
 * and no two are equal on a file system that ignores case or normalises Unicode.
 */
export const zipNames = (names: readonly string[]): readonly string[] => {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return names.map((name) => {
    const safe = safeName(name);
    const first = normalisedName(safe);
    for (let count = (counts.get(first) ?? 0) + 1; ; count += 1) {
      const named = count === 1 ? safe : numbered(safe, count);
      const key = normalisedName(named);
      if (taken.has(key)) continue;
      counts.set(first, count);
      taken.add(key);
      return named;
    }
  });
};

const safeName = (name: string): string => {
  const cleaned = name
    .normalize('NFC')
    .replace(UNSAFE, '_')
    .trim()
    // Windows drops what ends with dots or spaces.
    .replace(/[. ]+$/, '');
  const named = cleaned === '' ? 'document' : cleaned;
  return cut(RESERVED.test(named) ? `_${named}` : named, '');
};

const numbered = (name: string, count: number): string => cut(name, ` (${count})`);

/** A name with something before its ending, no longer than may be. */
const cut = (name: string, added: string): string => {
  const ending = extname(name);
  const kept = Buffer.byteLength(ending) > MOST_ENDING_BYTES ? '' : ending;
  const room = MOST_BYTES - Buffer.byteLength(added + kept);
  let stem = '';
  let size = 0;
  for (const { segment } of graphemes.segment(name.slice(0, name.length - kept.length))) {
    size += Buffer.byteLength(segment);
    if (size > room) break;
    stem += segment;
  }
  return `${stem.trimEnd()}${added}${kept}`;
};

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
