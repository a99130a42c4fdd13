export { canonicalText, type ScreeningPurpose } from './canonical';
export { type Finding, findings } from './findings';
export { screen, type Screening } from './screen';
