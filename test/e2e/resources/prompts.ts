import type { Resource } from '../world';

export const resource: Resource = {
  parameter: 'promptId',
  make: (post, { spaceId }) => post(`/spaces/${spaceId}/prompts`, { title: 'Greeting', text: 'Say hello.' }),
  singleAppends: [
    ['POST /api/v1/core/spaces/:spaceId/prompts', { title: 'Another', text: 'Say goodbye.' }],
    ['PUT /api/v1/core/spaces/:spaceId/prompts/:promptId', { title: 'Renamed' }],
    ['DELETE /api/v1/core/spaces/:spaceId/prompts/:promptId'],
  ],
};
