export { PassagesViewModule } from './passages-view.module';
export * from './passages.projection';
