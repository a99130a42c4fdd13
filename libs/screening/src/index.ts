export { canonicalText, type ScreeningPurpose } from './canonical';
export { type Finder, type Finding, findingsWithin, UNREAD } from './findings';
export { screen, type Screening } from './screen';
