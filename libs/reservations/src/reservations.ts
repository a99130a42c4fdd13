import { type CommandMeta, Decisions, DomainError, type Ids, InstanceSecret, isDomainError, normalisedName, refuse, stepOf, type Uuid } from '@app/kernel';
import { reservationDecider } from './reservation.decider';
import type { Claim } from './reservation.events';

/** How long a thing may take between reserving a name and using it before another may ask it to make room. */
export const RESERVATION_GRACE_MS = 10_000;

/** Makes the owner of a claim give it up in its own stream, for good; refuses with `name_taken` where the owner uses the name. */
export type Forfeit = (owner: string, claim: Claim, meta: CommandMeta) => Promise<unknown>;

/**
 * Names that must be unique in the instance. A name is reserved in a stream of its own before the thing that bears it says
 * so in its stream. Whoever dies in between blocks nothing: a later comer makes the owner forfeit its claim, which decides
 * in the owner's stream between the two, and then takes the name over.
 */
export class Reservations {
  constructor(
    private readonly decisions: Decisions,
    private readonly secret: InstanceSecret,
    private readonly ids: Ids,
  ) {}

  /** The claim of a command to a name of a kind: thing and field, such as `space.slug`. Equal names, as people see them, give equal keys. */
  claim(kind: string, name: string, ticket: Uuid): Claim {
    return { key: `${kind}.${this.secret.hash(kind, normalisedName(name))}`, ticket };
  }

  /**
   * Reserves the names for `owner` (a stream), then acts; a refusal sets them free again. Refuses with `name_taken`.
   * When the outcome of the act is unknown the names stay reserved, and the grace decides.
   */
  async hold<T>(claims: readonly Claim[], owner: string, forfeit: Forfeit, meta: CommandMeta, act: () => Promise<T>): Promise<T> {
    const held: Claim[] = [];
    try {
      for (const claim of claims) {
        await this.reserve(claim, owner, forfeit, meta);
        held.push(claim);
      }
      return await act();
    } catch (error) {
      if (isDomainError(error)) for (const claim of held) await this.release(claim, meta);
      throw error;
    }
  }

  /** Sets a name free, if this claim still holds it. */
  async release(claim: Claim, meta: CommandMeta): Promise<void> {
    await this.decisions.transact(reservationDecider, claim.key, { type: 'Release', ticket: claim.ticket }, this.step(meta));
  }

  private async reserve({ key, ticket }: Claim, owner: string, forfeit: Forfeit, meta: CommandMeta): Promise<void> {
    const command = { type: 'Reserve', owner, ticket } as const;
    try {
      await this.decisions.transact(reservationDecider, key, command, this.step(meta)).catch(async (error: unknown) => {
        if (!isDomainError(error, 'name_taken')) throw error;
        const instead = await this.makeRoom(key, forfeit, meta);
        return this.decisions.transact(reservationDecider, key, { ...command, ...instead }, this.step(meta));
      });
    } catch (error) {
      throw isDomainError(error, 'name_taken') ? new DomainError('name_taken', { path: key.split('.')[1] ?? key }) : error;
    }
  }

  /** Takes the claim of the holder away, if they had the time to use it and did not. Refuses with `name_taken`. */
  private async makeRoom(key: string, forfeit: Forfeit, meta: CommandMeta): Promise<{ readonly instead?: Uuid }> {
    const { holder } = (await this.decisions.load(reservationDecider, key)).state;
    if (holder === undefined) return {};
    if (meta.now.getTime() - Date.parse(holder.since) < RESERVATION_GRACE_MS) return refuse('name_taken');
    await forfeit(holder.owner, { key, ticket: holder.ticket }, this.step(meta));
    return { instead: holder.ticket };
  }

  /** A repeat must look at the reservation again, not be answered as decided: it may have been set free since. */
  private step(meta: CommandMeta): CommandMeta {
    return { ...stepOf(meta, 'name'), commandId: this.ids.next() };
  }
}

/** What a thing remembers of claims it lost. */
export type Forfeited = ReadonlySet<Uuid>;

/** Refuses a command whose claim was forfeited while it was on its way. */
export const demandClaims = (claims: readonly (Claim | undefined)[], forfeited: Forfeited): void => {
  if (claims.some((claim) => claim !== undefined && forfeited.has(claim.ticket))) refuse('name_taken');
};
