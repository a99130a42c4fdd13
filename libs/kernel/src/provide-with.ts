/** A class, abstract or with a private constructor, too. */
interface Class extends Function {
  readonly prototype: unknown;
}

/** The injection token of a dependency: a symbol, or a class. */
export type Token = symbol | Class;

/** An optional dependency. */
export interface OptionalToken {
  readonly token: Token;
  readonly optional: true;
}

/** The shape of Nest's `FactoryProvider`. */
export interface PartsProvider<T> {
  readonly provide: Token;
  readonly inject: (Token | OptionalToken)[];
  readonly useFactory: (...given: unknown[]) => T;
}

/**
 * A Nest provider for a value that is made from an object of parts: `inject` names the token of each part. An optional
 * part without a provider is undefined.
 */
export const provideWith = <T, Parts extends object>(
  provide: Token,
  make: (parts: Parts) => T,
  inject: { readonly [Name in keyof Parts]: Token | (undefined extends Parts[Name] ? OptionalToken : never) },
): PartsProvider<T> => {
  const names = Object.keys(inject);
  return {
    provide,
    inject: Object.values(inject) as PartsProvider<T>['inject'],
    useFactory: (...given) => make(Object.fromEntries(names.map((name, index) => [name, given[index]])) as Parts),
  };
};
