import { BackupError } from './manifest';

/** Does work that writes a file, which errors of a write and of a flush do not name. Other errors pass. */
export const namingWrites = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== 'write' && syscall !== 'fsync') throw error;
    throw new BackupError(`${file} cannot be written: ${message}`, { cause: error });
  }
};
