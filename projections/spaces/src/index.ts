import { GetSpaceHandler } from './queries/get-space';
import { ListSpacesHandler } from './queries/list-spaces';

export * from './queries/get-space';
export * from './queries/list-spaces';
export * from './spaces.projection';

export const spaceQueryHandlers = [GetSpaceHandler, ListSpacesHandler];
