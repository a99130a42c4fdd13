import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { canonicalJson, Grouped, Unavailable } from '@app/kernel';
import type { ClientSession, mongo } from 'mongoose';
import type { IndexSpec, ViewSpec } from '../read-store';
import { checkView, idsBeginning, type Models, type VersionDocument, type ViewDocument } from './documents';
import { codeOf, DUPLICATE_KEY } from './mongo-errors';
import type { MongoServer } from './mongo-server';
import { type Answered, RECENT_MS, type TtlCache } from './ttl-cache';
import type { RowShape } from './row-codec';
import { documentRows, type RowFormat, textRows } from './row-format';
import { type FreeForm, freeFormOf, rowSchema } from './row-schema';

const NAMESPACE_NOT_FOUND = 26;
const NAMESPACE_EXISTS = 48;
/** Error codes: the same index with other options, or another index of the same name. */
const INDEX_CONFLICTS: ReadonlySet<unknown> = new Set([85, 86]);

/** A readable version of a view. */
export interface Place {
  readonly view: string;
  readonly collection: string;
  readonly indexes: readonly IndexSpec[];
  readonly format: RowFormat;
  /** How to write its rows. */
  readonly shape: RowShape;
}

/** The row format of new builds. */
export const ROW_FORMAT = 'documents';

/** Knows the versions of each view, and which one is served. */
export class Views {
  private readonly reads: Grouped<string, ViewDocument | undefined>;
  private readonly known = new Map<string, Answered & { readonly document: ViewDocument | undefined }>();

  constructor(
    private readonly server: MongoServer,
    private readonly models: Models,
    private readonly answers: TtlCache,
  ) {
    this.reads = new Grouped((names) => this.readAll(names));
  }

  /** Concurrent callers share one read, which begins after they call. */
  find(view: string): Promise<ViewDocument | undefined> {
    return this.reads.join(view);
  }

  /** Finds where to read: the named version, or the live one. Throws `Unavailable` if it does not exist. */
  async place(view: string, version?: number): Promise<Place> {
    const recent = await this.recent(view);
    // It may have been created since the last look.
    const found = madeIn(recent, version ?? recent?.live) !== undefined ? recent : await this.ask(view);
    const wanted = version ?? found?.live;
    if (wanted === undefined) throw new Unavailable('views', `view ${view} has no live version yet`);
    return placeIn(found, view, wanted);
  }

  /** Finds where to write, as the session sees it. */
  async placeInSession(view: string, version: number, session: ClientSession): Promise<Place> {
    const found = (await this.models.views.findById(view, null, { session }).lean()) ?? undefined;
    const place = placeIn(found, view, version);
    if (place.format !== documentRows) throw olderFormat(view, version);
    return place;
  }

  /** Creates the collection of a version with its indexes, then the version: whoever finds it finds it complete. */
  async prepare(spec: ViewSpec): Promise<void> {
    const { name, version, indexes } = spec;
    checkView(name, version);
    const current = await this.version(name, version);
    if (current?.dropping === true) await this.drop(name, version);
    if (current === undefined || current.dropping === true) await this.make(spec);
    const made = await this.version(name, version);
    if (made?.indexes !== canonicalJson(indexes)) throw otherIndexes(name, version);
    if (made.format !== ROW_FORMAT) throw olderFormat(name, version);
    await this.server
      .write(() => this.makeIndexes(made.collection, spec))
      .catch((error: unknown) => {
        throw INDEX_CONFLICTS.has(codeOf(error)) ? otherIndexes(name, version, { cause: error }) : error;
      });
    await this.show(name);
  }

  /** Serves `to` if `from` is served now. */
  async swap(view: string, from: number | undefined, to: number): Promise<boolean> {
    const swapped = await this.server.write(() =>
      this.models.views.updateOne({ _id: view, live: from ?? { $exists: false } }, { $set: { live: to } }),
    );
    this.answers.move(view);
    if (swapped.matchedCount === 1) await this.show(view);
    return swapped.matchedCount === 1;
  }

  /** Marks the version, so that nobody reads it, then drops it. The next drop finishes one that was interrupted. */
  async drop(view: string, version: number): Promise<void> {
    await this.server.write(() =>
      this.models.views.updateOne(
        { _id: view, 'versions.version': version },
        { $set: { 'versions.$.dropping': true } },
      ),
    );
    this.answers.move(view);
    const marked = await this.version(view, version);
    if (marked === undefined) return;
    // Until then other processes may read it.
    await pause(2 * RECENT_MS);
    await this.server.write(() => this.clear(marked.collection));
    await this.server.write(() =>
      this.models.views.updateOne({ _id: view }, { $pull: { versions: { collection: marked.collection } } }),
    );
  }

  private async recent(view: string): Promise<ViewDocument | undefined> {
    const known = this.known.get(view);
    if (known !== undefined && this.answers.holds(view, known, () => this.ask(view))) return known.document;
    return this.ask(view);
  }

  private async ask(view: string): Promise<ViewDocument | undefined> {
    const askedAt = performance.now();
    const document = await this.find(view);
    this.known.set(view, { document, askedAt });
    return document;
  }

  private async version(view: string, version: number): Promise<VersionDocument | undefined> {
    return (await this.find(view))?.versions.find((each) => each.version === version);
  }

  /** If two processes create the same version, the collection of one wins. */
  private async make(spec: ViewSpec): Promise<void> {
    const { name: view, version, indexes } = spec;
    const collection = `${view}-v${version}-${randomBytes(4).toString('hex')}`;
    const freeForm = freeFormOf(spec.row);
    const made: VersionDocument = {
      version,
      indexes: canonicalJson(indexes),
      collection,
      format: ROW_FORMAT,
      ...(freeForm && { freeForm: JSON.stringify(freeForm) }),
    };
    await this.server.write(async () => {
      await this.server.db.createCollection(collection);
      await this.makeIndexes(collection, spec);
      await this.models.views
        .updateOne({ _id: view }, { $setOnInsert: { versions: [] } }, { upsert: true })
        .catch(unlessDuplicate);
      const taken = await this.models.views.updateOne(
        { _id: view, 'versions.version': { $ne: version } },
        { $push: { versions: made } },
      );
      if (taken.modifiedCount === 0) await this.clear(collection);
    });
  }

  private async makeIndexes(collection: string, spec: ViewSpec): Promise<void> {
    const indexes = rowSchema(await import('mongoose'), spec).indexes();
    if (indexes.length === 0) return;
    const descriptions = indexes.map(
      ([key, { name, unique, partialFilterExpression }]) =>
        ({ key, name, ...(unique === true && { unique, partialFilterExpression }) }) as mongo.IndexDescription,
    );
    await this.server.db.collection(collection).createIndexes(descriptions);
  }

  /** Shows people and tools the served rows under the name of the view: a MongoDB view, created again when another build is served. */
  private async show(name: string): Promise<void> {
    const found = await this.find(name);
    const served = madeIn(found, found?.live);
    if (served === undefined) return;
    await this.server.write(async () => {
      const [current] = await this.server.db.listCollections({ name }).toArray();
      // A collection of that name is not ours. Leave it.
      if (current !== undefined && current.type !== 'view') return;
      if (viewedBy(current) === served.collection) return;
      await this.server.db.dropCollection(name).catch(unlessCode(NAMESPACE_NOT_FOUND));
      await this.server.db
        .createCollection(name, { viewOn: served.collection, pipeline: [] })
        .catch(unlessCode(NAMESPACE_EXISTS));
    });
  }

  /** Removes a collection of rows with all that belongs to it. */
  private async clear(collection: string): Promise<void> {
    const ids = idsBeginning(`${collection}/`);
    await this.models.slices.deleteMany({ _id: ids });
    await this.models.viewState.deleteMany({ _id: ids });
    await this.server.db.dropCollection(collection).catch(unlessCode(NAMESPACE_NOT_FOUND));
  }

  private async readAll(names: readonly string[]): Promise<readonly (ViewDocument | undefined)[]> {
    // Runs with every read of rows. The driver alone costs half of what a model does.
    const views = this.server.db.collection<ViewDocument>(this.models.views.collection.name);
    const found = await this.server.read(() => views.find({ _id: { $in: [...new Set(names)] } }).toArray());
    const byName = new Map(found.map((view) => [view._id, view]));
    return names.map((name) => byName.get(name));
  }
}

const madeIn = (found: ViewDocument | undefined, version: number | undefined): VersionDocument | undefined =>
  found?.versions.find((each) => each.version === version && each.dropping !== true);

const placeIn = (found: ViewDocument | undefined, view: string, version: number): Place => {
  const made = madeIn(found, version);
  if (made === undefined)
    throw new Unavailable('views', `view ${view} v${version} is missing; rebuild it from the log`);
  const place = places.get(made) ?? placeOf(view, made);
  places.set(made, place);
  return place;
};

const placeOf = (view: string, { collection, indexes, format, freeForm }: VersionDocument): Place => {
  const declared = JSON.parse(indexes) as IndexSpec[];
  return {
    view,
    collection,
    indexes: declared,
    format: (format === ROW_FORMAT ? documentRows : textRows) as RowFormat,
    shape: {
      indexed: new Set(declared.flatMap(({ fields }) => fields.map(({ field }) => field))),
      freeForm: freeForm === undefined ? undefined : (JSON.parse(freeForm) as FreeForm),
    },
  };
};

/** Caches places by their documents, which stay the same objects for a moment. */
const places = new WeakMap<VersionDocument, Place>();

const otherIndexes = (view: string, version: number, options?: ErrorOptions): Error =>
  new Error(
    `view ${view} v${version} was made with other indexes than are declared now; give the projection a new version`,
    options,
  );

const olderFormat = (view: string, version: number): Error =>
  new Error(
    `rows of view ${view} v${version} are text in the format of version 1.5; they are only read until the view is rebuilt`,
  );

const viewedBy = (current: object | undefined): unknown =>
  (current as { readonly options?: { readonly viewOn?: string } } | undefined)?.options?.viewOn;

const unlessCode =
  (code: number) =>
  (error: unknown): void => {
    if (codeOf(error) !== code) throw error;
  };

const unlessDuplicate = unlessCode(DUPLICATE_KEY);
