import { InvalidInput } from '@app/http';
import { pathLengthFault } from '@app/skills';

/** Rejects the path of a file in a request. `fault`: what is wrong with it, as the end of a sentence. */
export const invalidPath = (fault: string): InvalidInput =>
  new InvalidInput('invalid_parameter', [{ path: 'path', code: 'invalid_path', message: `The file ${fault}` }]);

/** Rejects a path that is longer than that of any file. */
export const assertLength = (path: string): void => {
  const fault = pathLengthFault(path);
  if (fault !== undefined) throw invalidPath(fault);
};
