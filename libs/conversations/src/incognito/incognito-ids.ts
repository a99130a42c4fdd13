import { randomBytes } from 'node:crypto';
import { type InstanceSecret, isUuid, type Uuid } from '@app/kernel';

/** Of an id without dashes: version and variant (RFC 9562, 5.7), and where the parts of ours begin. */
const [PROCESS, CHECK, END] = [20, 26, 32] as const;

/**
 * Ids of incognito conversations: UUIDv7 that name their process, so no store needs to know them. A keyed check
 * distinguishes them from other ids, even after that process has ended: requests with such an id are treated as
 * incognito until they are rejected.
 */
export class IncognitoIds {
  constructor(
    private readonly secret: Pick<InstanceSecret, 'hash'>,
    private readonly processId: string,
  ) {}

  /** A new id of a conversation that this process has. */
  next(now: Date): Uuid {
    const time = now.getTime().toString(16).padStart(12, '0');
    const random = randomBytes(4).toString('hex');
    const variant = (8 + (Number.parseInt(random[3] ?? '0', 16) % 4)).toString(16);
    const hex = `${time}7${random.slice(0, 3)}${variant}${random.slice(4, 7)}${this.tagOf(this.processId)}`;
    return uuidOf(hex + this.check(hex));
  }

  /** The tag (`tagOf`) of the process that an id names; undefined for an id of anything else. */
  tagIn(id: string): string | undefined {
    if (!isUuid(id)) return undefined;
    const hex = id.replaceAll('-', '');
    return this.check(hex.slice(0, CHECK)) === hex.slice(CHECK) ? hex.slice(PROCESS, CHECK) : undefined;
  }

  /** How the ids of a process name it. */
  tagOf(processId: string): string {
    return this.secret.hash('incognito-process', processId).slice(0, CHECK - PROCESS);
  }

  private check(hex: string): string {
    return this.secret.hash('incognito', hex).slice(0, END - CHECK);
  }
}

const uuidOf = (hex: string): Uuid =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Uuid;
