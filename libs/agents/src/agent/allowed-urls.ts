import { z } from 'zod';

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const SOURCE = new RegExp(`^(?:\\*|(?:https?://)?(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*(?::(?:\\d{1,5}|\\*))?)$`);

/**
 * One place that may embed an Agent, in the form that `frame-ancestors` takes: `*`, or a host with optional scheme, leading
 * `*.` and port. Nothing else can be said, so that a list is always exactly the sources it shows (no quotes, no separators,
 * no paths, no other schemes). Host names are lower-case ASCII; others are written in their `xn--` form.
 */
const allowedUrl = z
  .string()
  .trim()
  .toLowerCase()
  .max(253, { abort: true })
  // In the form of a check: what a transformation gives has no type in the OpenAPI document.
  .overwrite((text) => text.replace(/\/$/, ''))
  .refine((text) => SOURCE.test(text), {
    message: 'must be * or a host such as https://example.com, *.example.com or https://example.com:8443',
  });

/** Where a public Agent may be embedded. An empty list allows only the instance's own pages. */
export const allowedUrls = z.array(allowedUrl).max(100);
