const PLAIN = '0123456789+-=()n';
const ABOVE = '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ';
const BELOW = '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙ';

/** Digits and signs as they are raised or lowered, so that 10⁶ is not read as 106; other texts as they are. */
export const raised = (text: string, to: 'above' | 'below'): string => {
  const signs = to === 'above' ? ABOVE : BELOW;
  const plain = text.trim().replaceAll('\u2212', '-');
  if (plain.length > 20 || [...plain].some((sign) => !PLAIN.includes(sign))) return text;
  return [...plain].map((sign) => signs[PLAIN.indexOf(sign)] as string).join('');
};
