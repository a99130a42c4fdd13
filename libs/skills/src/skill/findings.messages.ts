/** What is said to the thread that looks for findings between the files of two saves. */
export const NEXT_SAVE = 'next save';
