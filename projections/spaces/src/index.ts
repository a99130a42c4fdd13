export { GetSpace } from './queries/get-space';
export { ListSpaces } from './queries/list-spaces';
export { SpacesViewModule } from './spaces-view.module';
export { spaceRow, spaces } from './spaces.projection';
