import { agentDecider } from '@app/agents';
import { type Chunking, Decisions } from '@app/kernel';
import { CHUNKING_OF, type ChunkingOf } from '@app/knowledge';
import { spaceDecider } from '@app/spaces';
import { Global, Module } from '@nestjs/common';

/** Asked of the streams, so that a document obeys a setting from the moment that its change is answered. */
const chunkingOf = (decisions: Decisions): ChunkingOf => {
  const ofAgent = async (agentId: string): Promise<Chunking | null> => {
    const { state } = await decisions.recall(agentDecider, agentId);
    return state.status === 'present' ? (state.version.config.chunking ?? null) : null;
  };
  const ofSpace = async (spaceId: string): Promise<Chunking | null> => {
    const { state } = await decisions.recall(spaceDecider, spaceId);
    return state.status === 'present' ? state.chunking : null;
  };
  return async ({ scope, agentId, spaceId }) => {
    const own = scope === 'agent' && agentId !== null ? await ofAgent(agentId) : null;
    if (own !== null || scope === 'global' || spaceId === null) return own;
    return ofSpace(spaceId);
  };
};

/** What Knowledge asks of Agents and Spaces, which it does not import. */
@Global()
@Module({
  providers: [{ provide: CHUNKING_OF, inject: [Decisions], useFactory: chunkingOf }],
  exports: [CHUNKING_OF],
})
export class ChunkingSettingsModule {}
