import {
  Aggregates,
  CLOCK,
  CONFIG,
  type Config,
  ENVIRONMENT,
  EventCatalogue,
  IDS,
  LOGGER,
  PRODUCT_VERSION,
  Resources,
  systemClock,
  TimeOrderedIds,
} from '@app/kernel';
import { Metrics } from '@app/telemetry';
import { type DynamicModule, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { aggregates } from './aggregates';

/** What a process is started with. */
export interface ProcessOptions {
  readonly config: Config;
  /** For keys of model providers, which the model catalogue names by their variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** Closed by whoever starts the process, also where the start fails. */
  readonly resources: Resources;
  /** Of the product. */
  readonly version: string;
}

/** Provides, everywhere, what stands on nothing else: configuration, clock, ids, log lines, metrics and the kinds of aggregates. */
@Module({})
export class CoreModule {
  static forRoot({ config, environment, logger, resources, version }: ProcessOptions): DynamicModule {
    const providers = [
      { provide: CONFIG, useValue: config },
      { provide: ENVIRONMENT, useValue: environment },
      { provide: LOGGER, useValue: logger },
      { provide: Resources, useValue: resources },
      { provide: PRODUCT_VERSION, useValue: version },
      { provide: CLOCK, useValue: systemClock },
      { provide: IDS, useFactory: () => new TimeOrderedIds() },
      { provide: Aggregates, useValue: aggregates },
      { provide: EventCatalogue, useValue: aggregates.catalogue },
      { provide: Metrics, useFactory: () => new Metrics() },
    ];
    return { module: CoreModule, global: true, providers, exports: providers.map(({ provide }) => provide) };
  }
}
