/** Also for the surfaces: what somebody meant is guessed in one way everywhere. */
export { nearestName } from '../../core/retrieval/nearest-name.ts';
