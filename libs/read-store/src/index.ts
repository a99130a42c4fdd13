export * from './read-store';
export * from './sqlite/sqlite-read-store';
export * from './find-page';
