/** Loaded when help is asked for: most verbs only talk to a server. */
const kinds = () => (require('../../api/src/audit/object-kinds') as typeof import('../../api/src/audit/object-kinds')).objectKinds;
const views = () => (require('@app/hosting') as typeof import('@app/hosting')).projections;

/** The kinds of object that auditors ask for, and the views, by the names that the verbs take. */
export const kindsHelp = (): string => `\nKinds: ${Object.keys(kinds()).join(', ')}.`;
export const viewsHelp = (): string => `\nViews: ${views().map(({ name }) => name).join(', ')}.`;
export const exitCodesHelp = '\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 found something wrong.';
