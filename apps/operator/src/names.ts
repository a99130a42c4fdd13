/** Loaded for help only: most commands only talk to a server. */
const hosting = () => require('@app/hosting') as typeof import('@app/hosting');

/** Lines of help with the names that verbs take. */
export const kindsHelp = (): string => `\nKinds: ${Object.keys(hosting().aggregates.kinds).join(', ')}.`;
export const viewsHelp = (): string =>
  `\nViews: ${hosting()
    .projections.map(({ name }) => name)
    .join(', ')}.`;
export const exitCodesHelp = '\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 found something wrong.';
