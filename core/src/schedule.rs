//! Which pairs to buy: rings, pivot rounds, round robins.
