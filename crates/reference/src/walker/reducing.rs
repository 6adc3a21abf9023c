//! Reductions: contributions in the order of their policy, combined by its tree.

use super::*;

impl<'k, M: Meaning> Walker<'k, M> {
    #[expect(
        clippy::too_many_arguments,
        reason = "the fields of one operation, taken apart by the caller's match"
    )]
    pub(super) fn reduce(
        &mut self,
        environment: &mut Environment<M::Item>,
        op: Op,
        dims: &'k [Dim],
        policy: Policy,
        form: &'k ReduceForm,
        inits: &'k [Value],
        body: Region,
    ) -> Done<()> {
        let count = self.count(dims);
        let results = &self.kernel.op(op).results;
        let region = self.kernel.region(body);
        let inits = inits
            .iter()
            .map(|&init| self.element(environment, init, 0))
            .collect::<Done<Vec<M::Item>>>()?;
        let traversal = self.fused.as_mut().and_then(|fused| fused.enter(op));
        match form {
            ReduceForm::Closed(ops) => {
                let order = match policy {
                    Policy::Unordered => Order::Tree((self.trees)(op)),
                    Policy::Tree => Order::Tree(TREE),
                    Policy::Fold => Order::Fold,
                };
                let contributions = match traversal {
                    None => self.contributions(environment, op, dims, body, count)?,
                    Some(traversal) => self.fused_contributions(
                        environment,
                        op,
                        dims,
                        body,
                        count,
                        traversal,
                        order,
                    )?,
                };
                for (((&result, &by), init), items) in
                    results.iter().zip(ops).zip(inits).zip(contributions)
                {
                    environment[result.index()] =
                        Datum::Scalar(self.meaning.reduce(by, order, init, &items));
                }
            }
            ReduceForm::Open => {
                let carries = &region.args[dims.len()..];
                for (&carry, init) in carries.iter().zip(inits) {
                    environment[carry.index()] = Datum::Scalar(init);
                }
                for step in 0..count {
                    let index = traversal.unwrap_or(Traversal::RowMajor).place(step, count);
                    self.contribute(environment, op, dims, body, index)?;
                    let next = region
                        .yields
                        .iter()
                        .map(|&yielded| self.element(environment, yielded, 0))
                        .collect::<Done<Vec<M::Item>>>()?;
                    for (&carry, next) in carries.iter().zip(next) {
                        environment[carry.index()] = Datum::Scalar(next);
                    }
                }
                for (&result, &carry) in results.iter().zip(carries) {
                    environment[result.index()] = environment[carry.index()].clone();
                }
            }
        }
        if traversal.is_some()
            && let Some(fused) = &mut self.fused
        {
            fused.leave();
        }
        Ok(())
    }

    /// Runs the body of a reduction at one point of its domain.
    pub(super) fn contribute(
        &mut self,
        environment: &mut Environment<M::Item>,
        op: Op,
        dims: &'k [Dim],
        body: Region,
        index: usize,
    ) -> Done<()> {
        if let Some(fused) = &mut self.fused {
            fused.next_contribution(op);
        }
        self.set_coordinates(environment, body, dims, index);
        self.run_region(environment, body)
    }

    /// The contributions to each carry, in row-major order.
    pub(super) fn contributions(
        &mut self,
        environment: &mut Environment<M::Item>,
        op: Op,
        dims: &'k [Dim],
        body: Region,
        count: usize,
    ) -> Done<Vec<Vec<M::Item>>> {
        let yields = &self.kernel.region(body).yields;
        let mut items: Vec<Vec<M::Item>> =
            yields.iter().map(|_| Vec::with_capacity(count)).collect();
        for index in 0..count {
            self.contribute(environment, op, dims, body, index)?;
            for (items, &yielded) in items.iter_mut().zip(yields) {
                items.push(self.element(environment, yielded, 0)?);
            }
        }
        Ok(items)
    }

    /// The contributions to each carry as a fused traversal finds them: one traversal a carry, in the given order. A tree
    /// puts every contribution at its own place; a fold takes them as they come.
    #[expect(
        clippy::too_many_arguments,
        reason = "a traversal is a reduction's fields and an order"
    )]
    pub(super) fn fused_contributions(
        &mut self,
        environment: &mut Environment<M::Item>,
        op: Op,
        dims: &'k [Dim],
        body: Region,
        count: usize,
        traversal: Traversal,
        order: Order,
    ) -> Done<Vec<Vec<M::Item>>> {
        let yields = &self.kernel.region(body).yields;
        let mut all = Vec::with_capacity(yields.len());
        for &yielded in yields {
            let mut items = Vec::with_capacity(count);
            for step in 0..count {
                self.contribute(environment, op, dims, body, traversal.place(step, count))?;
                items.push(self.element(environment, yielded, 0)?);
            }
            if matches!((order, traversal), (Order::Tree(_), Traversal::Reversed)) {
                items.reverse();
            }
            all.push(items);
        }
        Ok(all)
    }

    // ---- control ----
}
