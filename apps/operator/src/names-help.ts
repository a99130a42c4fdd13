/** Loaded for help only: most commands only talk to a server. */
const names = () => require('./names') as typeof import('./names');

/** Lines of help with the names that verbs take. */
export const kindsHelp = (): string => `\nKinds: ${names().kinds.join(', ')}.`;
export const viewsHelp = (): string => `\nViews: ${names().views.join(', ')}.`;
export const exitCodesHelp = '\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 found something wrong.';
