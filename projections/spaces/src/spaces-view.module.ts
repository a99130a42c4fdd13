import { Module } from '@nestjs/common';
import { spaces } from './spaces.projection';
import { GetSpaceHandler } from './queries/get-space';
import { ListSpacesHandler } from './queries/list-spaces';

/** The view `spaces`. */
@Module({ providers: [GetSpaceHandler, ListSpacesHandler] })
export class SpacesViewModule {
  static readonly projections = [spaces];
}
