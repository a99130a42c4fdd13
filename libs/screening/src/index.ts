export type { ScreeningPurpose } from './canonical';
export { type Finding, findingsWithin } from './findings';
export { screen } from './screen';
