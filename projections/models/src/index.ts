export * from './models.projection';
