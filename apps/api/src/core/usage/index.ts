export { orderedRange } from './usage-range';
