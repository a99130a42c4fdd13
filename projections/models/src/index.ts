export { models } from './models.projection';
