import { setTimeout as pause } from 'node:timers/promises';
import {
  type CommandMeta,
  Decisions,
  DomainError,
  type Ids,
  IDS,
  InstanceSecret,
  isDomainError,
  isUnavailable,
  isUndone,
  normalisedName,
  type Receipt,
  reject,
  stepOf,
  unlessLeft,
  type Uuid,
} from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { Set as PersistentSet } from 'immutable';
import { reservationDecider } from './reservation.decider';
import type { Claim } from './reservation.events';

/** How long a aggregate may take between reserving a name and using it before another may ask it to make room. */
export const RESERVATION_GRACE_MS = 10_000;
/** How long the next try to give a name back waits while the log is away. */
const RETRY_MS = 200;

/** Makes the owner of a claim give it up in its own stream, for good; rejects with `name_taken` where the owner uses the name. */
export type Forfeit = (owner: string, claim: Claim, meta: CommandMeta) => Promise<unknown>;

/** The aggregate that names are reserved for. */
export interface Claimant {
  /** The stream of the aggregate. */
  readonly owner: string;
  /** For any aggregate of its kind. */
  readonly forfeit: Forfeit;
  /** The claims to the names that the aggregate bears now. */
  readonly uses: () => Promise<readonly Claim[]>;
}

/**
 * Reserves names that are unique in the instance, each in a stream of its own, before the aggregate writes the name
 * to its stream. A process that dies in between blocks nothing: a later command makes the owner forfeit its claim,
 * which the owner's stream decides, and takes the name over. Commands of one aggregate share a name, each with its
 * own ticket, so a rejected one takes nothing from another.
 */
@Injectable()
export class Reservations {
  constructor(
    private readonly decisions: Decisions,
    private readonly secret: InstanceSecret,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  /**
   * A new claim to a name of a kind: aggregate and field, such as `space.slug`. Equal names, as people see them, give equal keys.
   * No two claims share a ticket, not even those of a repeated command: who made a claim alone may give it back.
   */
  claim(kind: string, name: string): Claim {
    return { key: `${kind}.${this.secret.hash(kind, normalisedName(name))}`, ticket: this.ids.next() };
  }

  /**
   * Reserves the names for the claimant, then acts, and gives back the claims that it does not use then: new ones that it
   * did not adopt, and old ones that they replaced. A rejection gives back all new ones, and so does a store that did not serve, as far as the log answers. Rejects with `name_taken`.
   * When the outcome of the act is unknown the names stay reserved, and the grace decides; so it does where the log goes away behind the act.
   */
  async hold<T>(claims: readonly Claim[], claimant: Claimant, meta: CommandMeta, act: () => Promise<T>): Promise<T> {
    if (claims.length === 0) return act();
    const used = await claimant.uses();
    const result = await this.reserving(claims, claimant, meta, act);
    await this.giveBackUnused([...claims, ...used], claimant, meta).catch((error: unknown) => {
      // The act is done: whoever were told that it is not would do it again.
      if (!isUnavailable(error)) throw error;
    });
    return result;
  }

  /** Gives a claim back, if it still holds its name. */
  release(claim: Claim, meta: CommandMeta): Promise<Receipt> {
    return this.decisions.transact(
      reservationDecider,
      claim.key,
      { type: 'Release', ticket: claim.ticket },
      this.step(meta),
    );
  }

  private async reserving<T>(
    claims: readonly Claim[],
    claimant: Claimant,
    meta: CommandMeta,
    act: () => Promise<T>,
  ): Promise<T> {
    const held: Claim[] = [];
    try {
      for (const claim of claims) {
        await this.reserve(claim, claimant, meta);
        held.push(claim);
      }
      return await act();
    } catch (error) {
      if (isDomainError(error)) await this.giveBack(held, meta);
      // A step before may have used them.
      if (isUndone(error)) await unlessLeft(() => this.giveBackUnused(held, claimant, meta));
      throw error;
    }
  }

  private async giveBackUnused(claims: readonly Claim[], claimant: Claimant, meta: CommandMeta): Promise<void> {
    const tickets = new Set((await claimant.uses()).map(({ ticket }) => ticket));
    await this.giveBack(
      claims.filter(({ ticket }) => !tickets.has(ticket)),
      meta,
    );
  }

  /** A failure changes no answer. While the log is unavailable, this is retried for as long as others wait for the name; after that, whoever wants the name frees it. */
  private async giveBack(claims: readonly Claim[], meta: CommandMeta): Promise<void> {
    for (const claim of claims)
      if ((await unlessLeft(() => this.release(claim, meta))) === undefined) void this.releaseLater(claim, meta);
  }

  private async releaseLater(claim: Claim, meta: CommandMeta): Promise<void> {
    for (const late = AbortSignal.timeout(RESERVATION_GRACE_MS); !late.aborted;) {
      await pause(RETRY_MS, undefined, { ref: false });
      if ((await unlessLeft(() => this.release(claim, meta))) !== undefined) return;
    }
  }

  private async reserve({ key, ticket }: Claim, { owner, forfeit }: Claimant, meta: CommandMeta): Promise<void> {
    const command = { type: 'Reserve', owner, ticket } as const;
    try {
      await this.decisions.transact(reservationDecider, key, command, this.step(meta)).catch(async (error: unknown) => {
        if (!isDomainError(error, 'name_taken')) throw error;
        await this.forfeitUnused(key, forfeit, meta);
        return this.decisions.transact(reservationDecider, key, command, this.step(meta));
      });
    } catch (error) {
      throw isDomainError(error, 'name_taken')
        ? new DomainError('name_taken', { path: key.split('.')[1] ?? key })
        : error;
    }
  }

  /** Takes the claims of the holder away, if they had the time to use them and did not. Rejects with `name_taken`. */
  private async forfeitUnused(key: string, forfeit: Forfeit, meta: CommandMeta): Promise<void> {
    const { holder } = (await this.decisions.load(reservationDecider, key)).state;
    if (holder === undefined) return;
    if (meta.now.getTime() - Date.parse(holder.since) < RESERVATION_GRACE_MS) return reject('name_taken');
    for (const ticket of holder.tickets) {
      await forfeit(holder.owner, { key, ticket }, this.step(meta));
      await this.release({ key, ticket }, meta);
    }
  }

  /** A repeat must look at the reservation again, not be answered as decided: it may have been set free since. */
  private step(meta: CommandMeta): CommandMeta {
    return { ...stepOf(meta, 'name'), commandId: this.ids.next() };
  }
}

/** What a aggregate remembers of claims it lost or gave up. */
export type Forfeited = PersistentSet<Uuid>;

/** What it remembers once it lost or gave up these claims as well. */
export const forfeiting = (forfeited: Forfeited, claims: readonly { readonly ticket: Uuid }[]): Forfeited =>
  forfeited.union(claims.map(({ ticket }) => ticket));

/** Rejects a command whose claim was forfeited or given up while it was on its way. */
export const assertClaims = (claims: readonly (Claim | undefined)[], forfeited: Forfeited): void => {
  if (claims.some((claim) => claim !== undefined && forfeited.has(claim.ticket))) reject('name_taken');
};
