/** Headers that the product sends, that steer the connection or name who asks, and that no document may set (RFC 9110, Fetch). */
const OURS =
  /^(?:accept|accept-encoding|authorization|connection|content-.*|cookie2?|expect|forwarded|host|http2-settings|keep-alive|origin|proxy-.*|sec-.*|te|trailer|transfer-encoding|upgrade|user-agent|via|x-forwarded-.*|x-real-ip|x-http-method.*|x-method-override)$/;
const TOKEN = /^[!#$%&'*+.^_`|~\w-]{1,100}$/;

/** True for the name of a header that a document may have a tool send. */
export const isHeaderName = (name: string): boolean => TOKEN.test(name) && !OURS.test(name.toLowerCase());

/** Parameters that OpenAPI says to leave out (Parameter Object, `name`). */
export const isLeftOut = (name: string): boolean => /^(?:accept|content-type|authorization)$/i.test(name);
