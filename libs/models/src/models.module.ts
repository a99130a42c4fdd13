import { CONFIG, type Config, ENVIRONMENT, Resources } from '@app/kernel';
import { type DynamicModule, Module } from '@nestjs/common';
import { modelAggregates } from './model.aggregates';
import { Models } from './models';

/** Provides `Models` everywhere: the catalogue that `CONFIG` names, and the providers in it, with their keys from `ENVIRONMENT`. */
@Module({})
export class ModelsModule {
  static readonly aggregates = modelAggregates;

  static forRoot(): DynamicModule {
    return {
      module: ModelsModule,
      global: true,
      providers: [
        {
          provide: Models,
          inject: [CONFIG, ENVIRONMENT, Resources],
          useFactory: async (config: Config, environment: Parameters<typeof Models.open>[1], resources: Resources) => {
            const models = await resources.open(() => Models.open(config, environment));
            await models.verify();
            return models;
          },
        },
      ],
      exports: [Models],
    };
  }
}
