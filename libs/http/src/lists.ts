import type { Caller } from '@app/access';
import {
  canonicalJson,
  equalSecrets,
  InstanceSecret,
  type Json,
  reject,
  REMEMBERED,
  SharedLruCache,
} from '@app/kernel';
import type { PageRequest, PageStart } from '@app/read-store';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { wholeNumberText } from './input';
import { JsonText } from './json-text';

/** The schema of a list's query: `limit`, `cursor` and the list's own filters. */
export const listQuery = <Shape extends z.ZodRawShape>(filters: Shape) =>
  z.strictObject({
    limit: wholeNumberText(1, 100).default(50).describe('Maximum items per page.'),
    cursor: z.string().min(1).max(4_000).optional().describe('The `nextCursor` of the previous page.'),
    ...filters,
  });

/** The schema of a list, named after its items: an `AgentList` of `Agent`. `more` adds fields beside them. */
export const listOf = (item: z.ZodType, more: z.ZodRawShape = {}): z.ZodObject =>
  z
    .object({
      items: z.array(item).describe('The items of this page.'),
      nextCursor: z.string().nullable().describe('The `cursor` of the next page; null on the last page.'),
      ...more,
    })
    .meta({ id: `${item.meta()?.id}List` });

type ListQuery = Readonly<{ limit: number; cursor?: string | undefined } & Record<string, unknown>>;

/** The first items of what was found, as many as are asked for, and where the next page begins; null where no more was found. */
export const pageOf = <T>(
  found: readonly T[],
  limit: number,
  placeOf: (item: T) => PageStart,
): { readonly items: readonly T[]; readonly next: PageStart | null } => {
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : placeOf(last) };
};

interface Answered {
  readonly asked: string;
  readonly nextKey: string | undefined;
  readonly items: readonly JsonText[];
  readonly answer: JsonText;
}

/** Compares by identity: a presenter returns the same object until its row changes. */
const sameItems = (a: readonly JsonText[], b: readonly JsonText[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);

/** Pages lists. A cursor is valid for one list, its filters and its caller; a changed cursor is rejected. */
@Injectable()
export class Lists {
  /** Last answers by their first item, weighed as text and as the bytes that are sent. */
  private readonly answers = new SharedLruCache<JsonText, Answered>(REMEMBERED, ({ answer }) => 2 * answer.text.length);

  constructor(private readonly secret: InstanceSecret) {}

  /** What to read for a checked query. Rejects with `invalid_cursor`. `list` names the list and its place, such as `members/<spaceId>`. */
  page(list: string, caller: Caller, query: ListQuery): PageRequest {
    if (query.cursor === undefined) return { limit: query.limit };
    const [body = '', mac = '', ...more] = query.cursor.split('.');
    if (more.length > 0 || !equalSecrets(mac, this.mac(list, caller, query, body))) return reject('invalid_cursor');
    const [values, key] = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as [Json[], string];
    return { limit: query.limit, after: { values, key } };
  }

  /** The answer of a list: `next` is where the page behind this one begins, null at the end. The same items make the same answer once. */
  answer(list: string, caller: Caller, query: ListQuery, items: readonly JsonText[], next: PageStart | null): JsonText {
    const [first] = items;
    const asked = `${list} ${caller.actor} ${JSON.stringify(query)}`;
    const known = first === undefined ? undefined : this.answers.get(first);
    if (known !== undefined && known.asked === asked && known.nextKey === next?.key && sameItems(known.items, items))
      return known.answer;
    const answer = this.unkept(list, caller, query, items, next);
    if (first !== undefined) this.answers.set(first, { asked, nextKey: next?.key, items, answer });
    return answer;
  }

  /** As `answer`; nothing of it is remembered. */
  unkept(list: string, caller: Caller, query: ListQuery, items: readonly JsonText[], next: PageStart | null): JsonText {
    return JsonText.of({ items, nextCursor: next === null ? null : this.cursor(list, caller, query, next) });
  }

  private cursor(list: string, caller: Caller, query: ListQuery, next: PageStart): string {
    const body = Buffer.from(JSON.stringify([next.values, next.key])).toString('base64url');
    return `${body}.${this.mac(list, caller, query, body)}`;
  }

  /** What a cursor is bound to: everything but `limit`, which may change from page to page. */
  private mac(
    list: string,
    caller: Caller,
    { limit: _limit, cursor: _cursor, ...filters }: ListQuery,
    body: string,
  ): string {
    return this.secret.hash('cursor', canonicalJson([list, caller.actor, filters, body]));
  }
}
