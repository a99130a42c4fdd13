/** Longest title made from a question, characters. */
const MAX_TITLE = 80;

/** The title of a conversation until its user gives another: the beginning of the first question. */
export const titleOf = (question: string): string => {
  const text = question.replace(/[\p{C}\s]+/gu, ' ').trim();
  if (text === '') return 'New conversation';
  if (text.length <= MAX_TITLE) return text;
  const cut = text.slice(0, MAX_TITLE).toWellFormed();
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MAX_TITLE / 2)).trimEnd()}…`;
};
