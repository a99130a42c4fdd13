import { CONFIG, type Config, ENVIRONMENT, type Environment, Resources } from '@app/kernel';
import { type DynamicModule, Module } from '@nestjs/common';
import { modelAggregates } from './model.aggregates';
import { LocalEmbeddings, type OpenedEmbeddings } from './local/local-embeddings';
import { Models, modelsFolder } from './models';

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
          provide: LocalEmbeddings,
          inject: [CONFIG],
          useFactory: (config: Config) => new LocalEmbeddings(modelsFolder(config)),
        },
        {
          provide: Models,
          inject: [CONFIG, ENVIRONMENT, Resources, LocalEmbeddings],
          useFactory: async (
            config: Config,
            environment: Environment,
            resources: Resources,
            embeddings: OpenedEmbeddings,
          ) => {
            const models = await resources.open(() => Models.open(config, environment, undefined, embeddings));
            await models.verify();
            return models;
          },
        },
      ],
      exports: [Models],
    };
  }
}
