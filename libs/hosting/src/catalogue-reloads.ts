import type { EventLog, Subscription } from '@app/event-log';
import type { Logger, Position } from '@app/kernel';
import type { Models } from '@app/models';

/** What `CatalogueReloads` follows, and what it reloads. */
export interface CatalogueReloadsParts {
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly models: Pick<Models, 'reload'>;
  /** Where the log stood before the catalogue was read at the start. */
  readonly after: Position | null;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Reloads the model catalogue when an operator asked another process to: every process must bill by the same prices.
 * An invalid file changes nothing here; the operator is told about the file of the process that answers.
 */
export class CatalogueReloads {
  private subscription: Subscription | undefined;

  constructor(private readonly parts: CatalogueReloadsParts) {}

  start(): void {
    const { log, after } = this.parts;
    this.subscription = log.subscribe({
      name: 'catalogue-reloads',
      after,
      filter: { types: ['ModelCatalogueReloadRequested'] },
      // Whoever asked meanwhile, where this process did not look, is heard too.
      onRestored: () => this.reload(),
      onPassed: () => true,
      onEvents: async (events) => (events.length > 0 ? this.reload() : undefined),
    });
  }

  async stop(): Promise<void> {
    await this.subscription?.stop();
  }

  private reload(): void {
    try {
      this.parts.models.reload();
    } catch (error) {
      this.parts.logger.warn({ error }, 'MODELS_FILE is invalid in this process. Keeping the current catalogue.');
    }
  }
}
