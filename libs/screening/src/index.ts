export { canonicalText, type ScreeningPurpose } from './canonical';
export { type Finder, type Finding, findingsWithin } from './findings';
export { screen, type Screening } from './screen';
