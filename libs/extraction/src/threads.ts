/** What processes of other libraries import of this one: no formats, no schemas. */
export { startWatch, type WatchLimits } from './process/watch';
