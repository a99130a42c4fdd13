import type { ClientSession, Connection, mongo } from 'mongoose';
import { isUnavailable } from '@app/kernel';
import { Deadlines } from './deadlines';
import { explained, repeatedRead } from './mongo-errors';
import { Transactions, type TransactionOptions } from './transactions';

export interface MongoServerOptions {
  /** Connection string. The database is `platform` if it names none. */
  readonly url: string;
  /** Suffix of the database's name. */
  readonly suffix?: string;
  /** Names the dependency in `Unavailable`. */
  readonly dependency: string;
}

const READ_MS = 3_000;
const WRITE_MS = 30_000;
const HEALTH_MS = 2_000;

/** The MongoDB server has no transactions. The message says what to do. */
export class NoReplicaSet extends Error {
  override readonly name = 'NoReplicaSet';

  constructor() {
    super(
      'MONGODB_URL names a standalone MongoDB server, which has no transactions. Start mongod with --replSet rs0, run rs.initiate() in mongosh once, and start again. One member is enough.',
    );
  }
}

/** Connects to the database that a connection string names. Throws `NoReplicaSet`, or `Unavailable` if the server does not answer or rejects. */
export const openMongoServer = async ({ url, suffix = '', dependency }: MongoServerOptions): Promise<MongoServer> => {
  const { createConnection } = await import('mongoose');
  const connection = createConnection(url, {
    appName: 'agent-platform',
    autoCreate: false,
    autoIndex: false,
    bufferCommands: false,
    connectTimeoutMS: 1_500,
    heartbeatFrequencyMS: 2_000,
    serverSelectionTimeoutMS: 1_500,
    socketTimeoutMS: WRITE_MS,
    waitQueueTimeoutMS: READ_MS,
    readPreference: 'primary',
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: WRITE_MS },
  });
  try {
    await connection.asPromise();
    const database = connection.useDb(`${databaseOf(url)}${suffix}`);
    const hello = await dbOf(database).admin().command({ hello: 1 });
    if (hello['setName'] === undefined && hello['msg'] !== 'isdbgrid') throw new NoReplicaSet();
    return new MongoServer(connection, database, dependency);
  } catch (error) {
    await connection.close();
    throw explained(dependency, error, 'none');
  }
};

/** A database on a server. Every call has a deadline. Errors of the server become `Unavailable`. */
export class MongoServer {
  private readonly deadlines: Deadlines;
  private readonly transactions: Transactions;

  constructor(
    private readonly connection: Connection,
    /** The connection, for mongoose models. */
    readonly database: Connection,
    dependency: string,
  ) {
    this.deadlines = new Deadlines(dependency);
    this.transactions = new Transactions(() => connection.startSession(), this.deadlines);
  }

  get db(): mongo.Db {
    return dbOf(this.database);
  }

  read<T>(work: () => Promise<T>): Promise<T> {
    return this.deadlines.within(READ_MS, () => repeatedRead(work), 'none');
  }

  write<T>(work: () => Promise<T>): Promise<T> {
    return this.deadlines.within(WRITE_MS, work, 'unknown');
  }

  /** Runs work in a transaction. The work may run several times; it must run one operation at a time, all in the session. */
  transact<T>(work: (session: ClientSession) => Promise<T>, options: TransactionOptions): Promise<T> {
    return this.transactions.run(work, options);
  }

  /** Ends what a session has begun, also one of another process. */
  async killSession(hex: string): Promise<void> {
    const { mongo } = await import('mongoose');
    await this.write(() => this.db.admin().command({ killSessions: [{ id: new mongo.UUID(hex) }] }));
  }

  /** Checks whether the server accepts writes. Answers in bounded time, with a reason without secrets. */
  async health(): Promise<{ readonly ok: boolean; readonly reason?: string }> {
    try {
      const hello = await this.deadlines.within(HEALTH_MS, () => this.db.admin().command({ hello: 1 }), 'none');
      return hello['isWritablePrimary'] === true
        ? { ok: true }
        : { ok: false, reason: 'MongoDB has no primary that takes writes' };
    } catch (error) {
      return { ok: false, reason: isUnavailable(error) ? error.reason : 'MongoDB answers with an error' };
    }
  }

  async close(): Promise<void> {
    await this.transactions.close();
    await this.connection.close();
  }
}

const dbOf = ({ db }: Connection): mongo.Db => {
  if (db === undefined) throw new Error('the connection to MongoDB is not open');
  return db;
};

const databaseOf = (url: string): string => /^mongodb(?:\+srv)?:\/\/[^/]+\/([^/?]+)/.exec(url)?.[1] ?? 'platform';
