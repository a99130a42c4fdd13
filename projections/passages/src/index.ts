export { PassagesViewModule } from './passages-view.module';
export { passages } from './passages.projection';
