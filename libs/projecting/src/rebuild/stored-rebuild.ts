import { Mutex, reject } from '@app/kernel';
import type { ProjectingEvents } from '../events';
import type { RebuildRecord, RebuildState } from './rebuild-record';
import type { View } from '../views/view';

/** The rebuild of one view as this process knows it, stored before it is known: the store rejects what a later holder of the lease has changed. */
export class StoredRebuild {
  private known: RebuildRecord | undefined;
  private readonly saving = new Mutex();

  constructor(
    private readonly view: View,
    private readonly events: ProjectingEvents,
  ) {}

  /** Undefined where there is none. */
  get record(): RebuildRecord | undefined {
    return this.known;
  }

  /** Rejects with `no_rebuild`. */
  present(): RebuildRecord {
    return this.known ?? reject('no_rebuild');
  }

  /** Rejects with `rebuild_not_ready` in any other state. */
  expect(...states: readonly RebuildState[]): void {
    const { state } = this.present();
    if (!states.includes(state)) reject('rebuild_not_ready', { state });
  }

  /** What was read from the store. */
  take(stored: RebuildRecord | undefined): void {
    this.known = stored;
  }

  save(changes: Partial<RebuildRecord>): Promise<void> {
    return this.store({ ...this.present(), ...changes });
  }

  store(record: RebuildRecord): Promise<void> {
    return this.settled(async () => {
      await this.view.records.saveRebuild(record, this.known);
      this.known = record;
      this.events.emit('rebuild', { view: this.view.name, version: record.version, state: record.state });
    });
  }

  /** There is no rebuild any more. */
  clear(): Promise<void> {
    return this.settled(async () => {
      await this.view.records.saveRebuild(null, this.known);
      this.known = undefined;
    });
  }

  /** Runs while nothing is being stored. */
  settled<T>(work: () => Promise<T>): Promise<T> {
    return this.saving.run(work);
  }
}
