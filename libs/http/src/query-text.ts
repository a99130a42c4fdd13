import { isUnstorableText } from '@app/kernel';
import { type InputFault, InvalidInput, pathText } from './invalid-input';

/**
 * Rejects a query that cannot be read as it was meant: the parser takes a malformed escape for the characters that it
 * is written in, where a path with one is rejected. NUL is no text, as in bodies.
 */
export const checkQueryText = (url: string): void => {
  const start = url.indexOf('?');
  if (start === -1 || !url.includes('%', start)) return;
  const faults = url
    .slice(start + 1)
    .split('&')
    .flatMap(faultsOf);
  if (faults.length > 0) throw new InvalidInput('invalid_parameter', faults.slice(0, MOST_FAULTS));
};

/** Most faults one answer lists. */
const MOST_FAULTS = 20;

const faultsOf = (pair: string): readonly InputFault[] => {
  const [name = ''] = pair.split('=', 1);
  const [decodedName, decoded] = [decodedText(name), decodedText(pair)];
  const path = pathText([(decodedName ?? name).replaceAll('\0', '')]);
  if (decoded === undefined)
    return [{ path, code: 'malformed', message: 'Must be percent-encoded UTF-8, where % itself is %25.' }];
  return isUnstorableText(decoded) ? [{ path, code: 'invalid_text', message: 'Must not contain NUL.' }] : [];
};

const decodedText = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};
