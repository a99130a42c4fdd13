import { isTracing, type SpanAttributes, traced } from './traced';

type Method = (...args: never[]) => Promise<unknown>;
type MethodsOf<T> = { [K in keyof T]: T[K] extends Method ? K : never }[keyof T];

/**
 * Puts a span around each call of some methods of an object, in place. `describe` names what a span says of the call:
 * ids and counts. Does nothing unless traces are sent.
 */
export const traceMethods = <T extends object, K extends MethodsOf<T>>(
  object: T,
  prefix: string,
  methods: Readonly<Record<K, (args: Parameters<Extract<T[K], Method>>) => SpanAttributes>>,
): T => {
  if (!isTracing()) return object;
  for (const name of Object.keys(methods) as K[]) {
    const method = object[name] as Method;
    const inSpan = (...args: never[]): Promise<unknown> =>
      traced(`${prefix}.${String(name)}`, methods[name](args as Parameters<Extract<T[K], Method>>), () =>
        method.apply(object, args),
      );
    Object.defineProperty(object, name, { value: inSpan, configurable: true, writable: true });
  }
  return object;
};
