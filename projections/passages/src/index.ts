export * from './passages.projection';
