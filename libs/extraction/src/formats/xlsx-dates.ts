const DAY_MS = 24 * 60 * 60_000;

/** A day number as ISO 8601, without a time where it has none. */
export const dateText = (value: number, is1904: boolean): string => {
  if (!Number.isFinite(value) || value < 0 || value > 2_958_466) return String(value);
  // Times of day have no date. Excel takes 1900 for a leap year.
  const days = is1904 ? value + 1_462 : value < 60 ? value + 1 : value;
  const at = new Date(Date.UTC(1899, 11, 30) + Math.round((days * DAY_MS) / 1_000) * 1_000).toISOString();
  if (value < 1) return at.slice(11, 19);
  return Number.isInteger(value) ? at.slice(0, 10) : `${at.slice(0, 10)} ${at.slice(11, 19)}`;
};

/** A number of days as hours, minutes and seconds: `36:00:00`. */
export const durationText = (days: number): string => {
  if (!Number.isFinite(days) || Math.abs(days) > 2_958_466) return String(days);
  const seconds = Math.round(Math.abs(days) * 86_400);
  const two = (part: number): string => String(part).padStart(2, '0');
  const clock = `${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return days < 0 ? `-${clock}` : clock;
};
