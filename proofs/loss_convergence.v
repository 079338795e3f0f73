(* The loss-convergence trade-off (Theorem 6.1, Appendix D), in discrete time, for all k and every allowance f >= 0.

   The laws are those of models/cbr_delay.py, by the same names, for traces without end and a buffer of C * bs bytes.
   Time is counted in steps. A step may be any fraction of R_m: propagation takes Rm steps, 1 in the encoding that the
   solvers read. A controller sends at one rate within a step; F is the paper's, which allows for bursts as well.
   proofs/loss_convergence.py has the same steps, under the same names, for the solvers: there each is shown to fail
   when a hypothesis is dropped. *)

Require Import Reals Lra Lia List Arith.
Local Open Scope R_scope.

Section LossConvergence.

(** * The model *)

Variable D : nat. (* the most jitter, in steps *)
Variable bs : R. (* beta_s: the buffer, in steps at link rate *)

Hypothesis bs_positive : 0 < bs.
Hypothesis buffer_within_jitter : bs <= INR D. (* beta <= C D *)

Record trace := Trace {
  sent : nat -> R; (* A, cumulative, as the next three *)
  served : nat -> R; (* S *)
  lost : nat -> R; (* L *)
  tokens : nat -> R; (* K *)
  last_delay : nat -> nat; (* Q: of the last byte served by t *)
  first_delay : nat -> nat (* F: of the first byte served in (t-1, t] *)
}.

Definition admitted x t := sent x t - lost x t.

Record measured (x : trace) (delay : nat -> nat) (longest : R) : Prop := {
  stays_unless_served : forall t, served x (S t) = served x t -> delay (S t) = delay t;
  grows_with_time : forall t s, served x t < served x (S t) -> (delay (S t + s) <= delay (S t) + s)%nat;
  fits_buffer : forall t, INR (delay t) <= longest
}.

Record cbr_delay (C : R) (x : trace) : Prop := {
  origin : served x 0 = 0;
  sends : forall t, sent x t <= sent x (S t);
  loss_grows : forall t, lost x t <= lost x (S t);
  loss_is_of_new_bytes : forall t, admitted x t <= admitted x (S t);
  served_after_sent : forall t, served x t <= admitted x t;
  served_after_admitted : forall t, served x t <= tokens x t; (* 0 <= jitter *)
  served_within_jitter : forall t, tokens x t <= served x (t + D); (* jitter <= D *)
  served_within_jitter_at_first : forall t, (t < D)%nat -> tokens x 0 - C * INR (D - t) <= served x t;
  service_grows : forall t, served x t <= served x (S t);
  no_token_is_kept : tokens x 0 <= admitted x 0;
  serves_at_link_rate : forall t, tokens x (S t) = Rmin (tokens x t + C) (admitted x (S t));
  fits_at_first : admitted x 0 <= tokens x 0 + C * bs;
  overflow_is_lost : forall t, sent x (S t) - lost x t > tokens x (S t) + C * bs ->
    admitted x (S t) = tokens x (S t) + C * bs;
  only_overflow_is_lost : forall t, sent x (S t) - lost x t <= tokens x (S t) + C * bs -> lost x (S t) = lost x t;
  Q_measured : measured x (last_delay x) (bs + INR D);
  Q_is_time_since_sent : forall t d, (d <= t)%nat -> served x t < served x (S t) ->
    (last_delay x (S t) = d <-> admitted x (t - d) < served x (S t) <= admitted x (S t - d));
  F_measured : measured x (first_delay x) (bs + INR D + 1);
  F_is_time_since_sent : forall t d, (d <= t)%nat -> served x t < served x (S t) ->
    (first_delay x (S t) = d <-> admitted x (t - d) <= served x t < admitted x (S t - d))
}.

Definition starts_empty x := sent x 0 = 0 /\ lost x 0 = 0 /\ tokens x 0 = 0.

(* Every byte takes Rm + D steps to be acknowledged. *)
Definition steady_delay x := forall t, served x (t + D) = admitted x t.

(** ** What follows from the laws alone *)

Lemma queue_fits C x : 0 <= C -> cbr_delay C x -> forall t, tokens x t <= admitted x t <= tokens x t + C * bs.
Proof.
  intros HC H. induction t as [|t IH].
  - split; [apply (no_token_is_kept C x H) | apply (fits_at_first C x H)].
  - pose proof (serves_at_link_rate C x H t) as HK. split.
    + rewrite HK. apply Rmin_r.
    + destruct (Rlt_le_dec (tokens x (S t) + C * bs) (sent x (S t) - lost x t)) as [full | fits].
      * rewrite (overflow_is_lost C x H t full). lra.
      * unfold admitted. rewrite (only_overflow_is_lost C x H t fits). exact fits.
Qed.

Lemma tokens_at_most_link_rate C x : cbr_delay C x -> forall t s, tokens x (t + s) <= tokens x t + C * INR s.
Proof.
  intros H t s. induction s as [|s IH].
  - rewrite Nat.add_0_r. simpl. lra.
  - rewrite Nat.add_succ_r, S_INR, (serves_at_link_rate C x H).
    pose proof (Rmin_l (tokens x (t + s) + C) (admitted x (S (t + s)))). lra.
Qed.

Lemma tokens_at_link_rate_while_queued C x : 0 <= C ->
  (forall t, tokens x (S t) = Rmin (tokens x t + C) (admitted x (S t))) ->
  (forall t, admitted x t <= admitted x (S t)) ->
  forall t s, Rmin (admitted x t) (tokens x t + C * INR s) <= tokens x (t + s).
Proof.
  intros HC serves new_bytes t s.
  assert (grows : forall n, admitted x t <= admitted x (t + n)).
  { induction n as [|n IH]; [rewrite Nat.add_0_r; lra|].
    rewrite Nat.add_succ_r. specialize (new_bytes (t + n)%nat). lra. }
  induction s as [|s IH].
  - rewrite Nat.add_0_r. simpl. pose proof (Rmin_r (admitted x t) (tokens x t + C * 0)). lra.
  - rewrite Nat.add_succ_r, S_INR, serves.
    specialize (grows (S s)). rewrite Nat.add_succ_r in grows.
    revert IH. unfold Rmin. repeat destruct Rle_dec; lra.
Qed.

Lemma loss_never_shrinks C x : cbr_delay C x -> forall t s, (t <= s)%nat -> lost x t <= lost x s.
Proof.
  intros H t s order. induction order as [|s order IH]; [lra|]. pose proof (loss_grows C x H s). lra.
Qed.

(* The queue was last empty at t0, and the link has been busy since. *)
Lemma busy_since C x : cbr_delay C x -> tokens x 0 = admitted x 0 ->
  forall t, exists t0, (t0 <= t)%nat /\ tokens x t = admitted x t0 + C * INR (t - t0).
Proof.
  intros H empty. induction t as [|t (t0 & before & busy)].
  - exists 0%nat. split; [lia|]. simpl. lra.
  - rewrite (serves_at_link_rate C x H). unfold Rmin. destruct Rle_dec.
    + exists t0. split; [lia|]. rewrite busy. replace (S t - t0)%nat with (S (t - t0)) by lia. rewrite S_INR. lra.
    + exists (S t). split; [lia|]. rewrite Nat.sub_diag. simpl. lra.
Qed.

(** * Step 1. Without loss, a faster link shows the same *)

(* As beta <= C D, the box need not add jitter for its queue's delay to stay within D. *)
Lemma step_1_queueing_within_jitter C x : 0 <= C -> cbr_delay C x -> forall t, admitted x t <= tokens x (t + D).
Proof.
  intros HC H t. pose proof (tokens_at_link_rate_while_queued C x HC
    (serves_at_link_rate C x H) (loss_is_of_new_bytes C x H) t D) as busy.
  pose proof (queue_fits C x HC H t). assert (C * bs <= C * INR D) by (apply Rmult_le_compat_l; lra).
  revert busy. unfold Rmin. destruct Rle_dec; lra.
Qed.

Fixpoint tokens_at (C start : R) (arrivals : nat -> R) (t : nat) : R :=
  match t with
  | O => start
  | S s => Rmin (tokens_at C start arrivals s + C) (arrivals (S s))
  end.

(* Link II: the same bytes sent and served at the same times; its own tokens. *)
Definition on_link (C : R) (x : trace) : trace :=
  Trace (sent x) (served x) (lost x) (tokens_at C (tokens x 0) (admitted x)) (last_delay x) (first_delay x).

Definition lossless x := forall t, lost x t = lost x 0.

(* Jitter makes no RTT longer than R_m + D, so that none is. *)
Definition no_needless_jitter x :=
  forall t, admitted x t <= served x (t + D) \/ tokens x (t + D) <= served x (t + D).

Lemma rtt_within_jitter C x : 0 <= C -> cbr_delay C x -> no_needless_jitter x ->
  forall t, admitted x t <= served x (t + D).
Proof.
  intros HC H needed t. pose proof (step_1_queueing_within_jitter C x HC H t). destruct (needed t); lra.
Qed.

Theorem step_1_reproduces C1 C2 x : 0 <= C1 <= C2 -> cbr_delay C1 x -> lossless x -> no_needless_jitter x ->
  cbr_delay C2 (on_link C2 x).
Proof.
  intros HC H no_loss needed. pose proof (rtt_within_jitter C1 x (proj1 HC) H needed) as rtt.
  set (K2 := tokens_at C2 (tokens x 0) (admitted x)).
  assert (faster : forall t, tokens x t <= K2 t).
  { induction t as [|t IH]; [apply Rle_refl|].
    change (K2 (S t)) with (Rmin (K2 t + C2) (admitted x (S t))). rewrite (serves_at_link_rate C1 x H).
    unfold Rmin. repeat destruct Rle_dec; lra. }
  assert (kept : forall t, K2 t <= admitted x t).
  { destruct t; [apply (no_token_is_kept C1 x H) | apply Rmin_r]. }
  assert (fits : forall t, admitted x t <= K2 t + C2 * bs).
  { intro t. pose proof (queue_fits C1 x (proj1 HC) H t). pose proof (faster t).
    assert (C1 * bs <= C2 * bs) by (apply Rmult_le_compat_r; lra). lra. }
  assert (same : forall t s, lost x t = lost x s) by (intros; rewrite (no_loss t), (no_loss s); reflexivity).
  destruct H as [? ? ? ? ? before_tokens ? at_first ? ? ? first ? ? Q Qd F Fd]. split; trivial.
  - intro t. apply Rle_trans with (tokens x t); [apply before_tokens | apply faster].
  - intro t. apply Rle_trans with (admitted x t); [apply kept | apply rtt].
  - intros t early. specialize (at_first t early). simpl.
    assert (C1 * INR (D - t) <= C2 * INR (D - t)) by (apply Rmult_le_compat_r; [apply pos_INR | lra]). lra.
  - exact (fits 0%nat).
  - intros t full. exfalso. change (sent x (S t) - lost x t > K2 (S t) + C2 * bs) in full.
    pose proof (fits (S t)) as fit. unfold admitted in fit. rewrite (same (S t) t) in fit. lra.
  - intros t _. apply same.
  - destruct Q. split; assumption.
  - destruct F. split; assumption.
Qed.

(* So a controller that causes neither loss nor an RTT over R_m + D can be on a link of which it uses less than u. *)
Theorem step_1_must_lose C1 x u : 0 <= C1 -> cbr_delay C1 x -> lossless x -> no_needless_jitter x -> 0 < u ->
  exists C2, C1 <= C2 /\ cbr_delay C2 (on_link C2 x) /\ forall t, served x t <= u * (C2 * INR (t + D)).
Proof.
  intros HC H no_loss needed Hu. exists (Rmax C1 (C1 / u)).
  assert (faster := Rmax_l C1 (C1 / u)). split; [exact faster|]. split.
  { apply (step_1_reproduces C1); [lra | assumption..]. }
  intro t. pose proof (served_after_admitted C1 x H t). pose proof (tokens_at_most_link_rate C1 x H 0 t) as rate.
  assert (start : tokens x 0 <= C1 * INR D).
  { pose proof (origin C1 x H). destruct (Nat.eq_dec D 0) as [none | some].
    - rewrite none in buffer_within_jitter. simpl in buffer_within_jitter. lra.
    - pose proof (served_within_jitter_at_first C1 x H 0 ltac:(lia)). rewrite Nat.sub_0_r in *. lra. }
  assert (u * (C1 / u * INR (t + D)) <= u * (Rmax C1 (C1 / u) * INR (t + D))).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; [apply pos_INR | apply Rmax_r]. }
  replace (u * (C1 / u * INR (t + D))) with (C1 * INR (t + D)) in * by (field; lra).
  rewrite plus_INR in *. simpl in rate. lra.
Qed.

(** * Step 3. The loss risked on a link is what is sent above it (Step 2 is the case without) *)

(* On the link at C_Llambda this is the paper's Delta L( t1, t2 ). *)
Theorem step_3_loss_risked C x t1 t2 : 0 <= C -> cbr_delay C x -> (t1 <= t2)%nat ->
  sent x t2 - sent x t1 - C * (INR (t2 - t1) + bs) <= lost x t2 - lost x t1.
Proof.
  intros HC H order. pose proof (queue_fits C x HC H t1). pose proof (queue_fits C x HC H t2).
  pose proof (tokens_at_most_link_rate C x H t1 (t2 - t1)) as rate.
  replace (t1 + (t2 - t1))%nat with t2 in rate by lia. unfold admitted in *. lra.
Qed.

(* And no more: whenever bytes are lost, there is an interval up to then above which just as many were sent. *)
Theorem step_3_exact C x t : 0 < C -> cbr_delay C x -> starts_empty x -> lost x t < lost x (S t) ->
  exists t0, (t0 <= t)%nat /\ lost x (S t) - lost x t0 = sent x (S t) - sent x t0 - C * (INR (S t - t0) + bs).
Proof.
  intros HC H (A0 & L0 & K0) loses.
  destruct (busy_since C x H) with (t := t) as (t0 & before & busy); [unfold admitted; lra|].
  exists t0. split; [exact before|].
  assert (0 < C * bs) by (apply Rmult_lt_0_compat; lra).
  destruct (Rlt_le_dec (tokens x (S t) + C * bs) (sent x (S t) - lost x t)) as [full | fits].
  - pose proof (overflow_is_lost C x H t full) as overflow. pose proof (serves_at_link_rate C x H t) as serves.
    replace (S t - t0)%nat with (S (t - t0)) by lia. rewrite S_INR.
    revert serves. unfold Rmin. destruct Rle_dec; unfold admitted in *; lra.
  - pose proof (only_overflow_is_lost C x H t fits). lra.
Qed.

(** * Step 2. The links that explain what was seen: those of rate C_Llambda or more *)

Variable C_0 : R. (* what the link rate is known to be at least *)

Hypothesis C_0_nonnegative : 0 <= C_0.

(* Eq. D.1 as a condition: nothing sent by t has overflowed a link of this rate. *)
Definition explains (C : R) (A : nat -> R) (t : nat) :=
  forall t1 t2, (t1 <= t2 <= t)%nat -> A t2 - A t1 <= C * (INR (t2 - t1) + bs).

Definition rate_over (A : nat -> R) '(t1, t2) := (A t2 - A t1) / (INR (t2 - t1) + bs).

Definition intervals (t : nat) := filter (fun '(t1, t2) => t1 <=? t2) (list_prod (seq 0 (S t)) (seq 0 (S t))).

(* Eq. D.1: the most over 0 <= t1 <= t2 <= t, and C_0. The t of this is the paper's t* - RTT( t* ). *)
Definition C_Llambda (A : nat -> R) (t : nat) := fold_right Rmax C_0 (map (rate_over A) (intervals t)).

Lemma rate_over_at_most A C t1 t2 : rate_over A (t1, t2) <= C <-> A t2 - A t1 <= C * (INR (t2 - t1) + bs).
Proof.
  unfold rate_over. pose proof (pos_INR (t2 - t1)) as length.
  replace (A t2 - A t1) with ((A t2 - A t1) / (INR (t2 - t1) + bs) * (INR (t2 - t1) + bs)) at 2 by (field; lra).
  split; intro H; [apply Rmult_le_compat_r | apply (Rmult_le_reg_r (INR (t2 - t1) + bs))]; lra.
Qed.

(* C_Llambda is the least rate, from C_0 on, that explains what was sent by t. *)
Lemma C_Llambda_least A C t : C_Llambda A t <= C <-> C_0 <= C /\ explains C A t.
Proof.
  assert (most : forall rates, fold_right Rmax C_0 rates <= C <-> C_0 <= C /\ forall r, In r rates -> r <= C).
  { induction rates as [|r rates IH]; simpl; [split; [intro H; split; [exact H | tauto] | tauto]|]. split.
    - intro H. destruct (proj1 IH) as [above rest]; [eapply Rle_trans; [apply Rmax_r | exact H]|].
      split; [exact above|]. intros q [<- | within]; [eapply Rle_trans; [apply Rmax_l | exact H] | auto].
    - intros [above all]. apply Rmax_lub; [auto | apply IH; auto]. }
  unfold C_Llambda. rewrite most. split; intros [above H]; (split; [exact above|]).
  - intros t1 t2 order. apply rate_over_at_most. apply H, in_map, filter_In. split.
    + apply in_prod; apply in_seq; lia.
    + apply Nat.leb_le. lia.
  - intros r within. apply in_map_iff in within. destruct within as ((t1 & t2) & <- & within).
    apply filter_In in within. destruct within as [within order]. apply Nat.leb_le in order.
    apply in_prod_iff in within. rewrite !in_seq in within. apply rate_over_at_most, H. lia.
Qed.

Lemma explains_at_start A C : 0 <= C -> explains C A 0.
Proof.
  intros HC t1 t2 order. replace t1 with 0%nat by lia. replace t2 with 0%nat by lia. simpl.
  assert (0 <= C * bs) by (apply Rmult_le_pos; lra). lra.
Qed.

Theorem step_2_sound C x t : C_0 <= C -> cbr_delay C x -> lost x t = lost x 0 -> C_Llambda (sent x) t <= C.
Proof.
  intros HC H no_loss. apply C_Llambda_least. split; [exact HC|]. intros t1 t2 order.
  pose proof (step_3_loss_risked C x t1 t2 ltac:(lra) H ltac:(lia)).
  pose proof (loss_never_shrinks C x H 0 t1 ltac:(lia)). pose proof (loss_never_shrinks C x H t2 t ltac:(lia)). lra.
Qed.

(* The execution of a link on which every RTT is R_m + D: bytes lost, and tokens. *)
Fixpoint link (C : R) (A : nat -> R) (t : nat) : R * R :=
  match t with
  | O => (0, 0)
  | S s =>
      let (l, k) := link C A s in
      let l' := Rmax l (A (S s) - (k + C + C * bs)) in
      (l', Rmin (k + C) (A (S s) - l'))
  end.

Definition steady (C : R) (A : nat -> R) : trace :=
  let l t := fst (link C A t) in
  Trace A (fun t => A (t - D)%nat - l (t - D)%nat) l (fun t => snd (link C A t)) (fun _ => D) (fun _ => D).

Definition grows (A : nat -> R) := A 0%nat = 0 /\ forall t, A t <= A (S t).

Lemma steady_next C A t :
  lost (steady C A) (S t) = Rmax (lost (steady C A) t) (A (S t) - (tokens (steady C A) t + C + C * bs)) /\
  tokens (steady C A) (S t) = Rmin (tokens (steady C A) t + C) (admitted (steady C A) (S t)).
Proof. unfold admitted. simpl. destruct (link C A t) as [l k]. split; reflexivity. Qed.

Lemma link_step C a a' l k : 0 <= C -> a <= a' -> k <= a - l <= k + C * bs ->
  let l' := Rmax l (a' - (k + C + C * bs)) in
  let k' := Rmin (k + C) (a' - l') in
  (k' <= a' - l' <= k' + C * bs /\ a - l <= a' - l') /\
  (a' - l > k' + C * bs -> a' - l' = k' + C * bs) /\ (a' - l <= k' + C * bs -> l' = l).
Proof.
  intros HC up fits. assert (0 <= C * bs) by (apply Rmult_le_pos; lra).
  simpl. unfold Rmax, Rmin. repeat destruct Rle_dec; lra.
Qed.

Lemma steady_fits C A : 0 <= C -> grows A ->
  forall t, tokens (steady C A) t <= admitted (steady C A) t <= tokens (steady C A) t + C * bs.
Proof.
  intros HC [zero up]. induction t as [|t IH].
  - assert (0 <= C * bs) by (apply Rmult_le_pos; lra). unfold admitted. simpl. lra.
  - destruct (link_step C _ _ _ _ HC (up t) IH) as [[fits _] _].
    destruct (steady_next C A t) as [lost_next tokens_next]. rewrite tokens_next. unfold admitted.
    rewrite lost_next. exact fits.
Qed.

Lemma admitted_grows C A : 0 <= C -> grows A ->
  forall t s, (t <= s)%nat -> admitted (steady C A) t <= admitted (steady C A) s.
Proof.
  intros HC HA t s order. induction order as [|s order IH]; [lra|].
  destruct (link_step C _ _ _ _ HC (proj2 HA s) (steady_fits C A HC HA s)) as [[_ up] _].
  rewrite <- (proj1 (steady_next C A s)) in up. unfold admitted in *. simpl in *. lra.
Qed.

Lemma steady_has_steady_delay C A : steady_delay (steady C A).
Proof. intro t. change (admitted (steady C A) (t + D - D) = admitted (steady C A) t). f_equal. lia. Qed.

Lemma steady_is_measured C A longest : INR D <= longest -> measured (steady C A) (fun _ => D) longest.
Proof. intro. split; intros; [reflexivity | lia | assumption]. Qed.

Lemma steady_is_cbr_delay C A : 0 <= C -> grows A -> cbr_delay C (steady C A).
Proof.
  intros HC HA. pose proof (steady_fits C A HC HA) as queue. pose proof (admitted_grows C A HC HA) as monotone.
  pose proof (fun t => link_step C _ _ _ _ HC (proj2 HA t) (queue t)) as step.
  pose proof (steady_next C A) as next. set (x := steady C A) in *.
  assert (start : admitted x 0 = 0) by (unfold admitted; simpl; rewrite (proj1 HA); lra).
  assert (served_x : forall t, served x t = admitted x (t - D)) by reflexivity.
  assert (new_bytes : forall t, served x t < served x (S t) -> (D <= t)%nat).
  { intros t new. rewrite !served_x in new. destruct (le_lt_dec D t) as [|early]; [assumption|].
    replace (S t - D)%nat with (t - D)%nat in new by lia. lra. }
  split.
  - rewrite served_x. exact start.
  - apply HA.
  - intro t. rewrite (proj1 (next t)). apply Rmax_l.
  - intro t. apply monotone. lia.
  - intro t. rewrite served_x. apply monotone. lia.
  - intro t. rewrite served_x.
    pose proof (tokens_at_link_rate_while_queued C x HC (fun t => proj2 (next t))
      (fun t => monotone t (S t) ltac:(lia)) (t - D) (t - (t - D))) as busy.
    replace (t - D + (t - (t - D)))%nat with t in busy by lia.
    destruct (le_lt_dec D t).
    + replace (t - (t - D))%nat with D in busy by lia. specialize (queue (t - D)%nat).
      assert (C * bs <= C * INR D) by (apply Rmult_le_compat_l; lra).
      revert busy. unfold Rmin. destruct Rle_dec; lra.
    + replace (t - D)%nat with 0%nat in * by lia. rewrite start in *. change (tokens x 0) with 0 in busy.
      assert (0 <= C * INR (t - 0)) by (apply Rmult_le_pos; [lra | apply pos_INR]).
      revert busy. unfold Rmin. destruct Rle_dec; lra.
  - intro t. rewrite served_x. replace (t + D - D)%nat with t by lia. apply queue.
  - intros t early. rewrite served_x. replace (t - D)%nat with 0%nat by lia. rewrite start.
    change (tokens x 0) with 0. assert (0 <= C * INR (D - t)) by (apply Rmult_le_pos; [lra | apply pos_INR]). lra.
  - intro t. rewrite !served_x. apply monotone. lia.
  - apply queue.
  - intro t. apply next.
  - apply queue.
  - intros t full. destruct (step t) as (_ & overflow & _). destruct (next t) as [next_lost next_tokens].
    rewrite next_tokens in *. unfold admitted in *. rewrite next_lost in *. exact (overflow full).
  - intros t fits. destruct (step t) as (_ & _ & overflow).
    destruct (next t) as [next_lost next_tokens].
    rewrite next_tokens in *. unfold admitted in *. rewrite next_lost in *. exact (overflow fits).
  - apply steady_is_measured. lra.
  - intros t d _ new. pose proof (new_bytes t new). rewrite !served_x in *. change (last_delay x (S t)) with D.
    destruct (lt_eq_lt_dec d D) as [[shorter | ->] | longer]; [| split; [intros _; lra | reflexivity] |].
    + pose proof (monotone (S t - D) (t - d) ltac:(lia))%nat. split; [lia | lra].
    + pose proof (monotone (S t - d) (t - D) ltac:(lia))%nat. split; [lia | lra].
  - apply steady_is_measured. lra.
  - intros t d _ new. pose proof (new_bytes t new). rewrite !served_x in *. change (first_delay x (S t)) with D.
    destruct (lt_eq_lt_dec d D) as [[shorter | ->] | longer]; [| split; [intros _; lra | reflexivity] |].
    + pose proof (monotone (S t - D) (t - d) ltac:(lia))%nat. split; [lia | lra].
    + pose proof (monotone (S t - d) (t - D) ltac:(lia))%nat. split; [lia | lra].
Qed.

Lemma explained_without_loss C A t : 0 <= C -> grows A -> explains C A t ->
  forall s, (s <= t)%nat -> lost (steady C A) s = 0.
Proof.
  intros HC HA H. induction s as [|s IH]; intro order; [reflexivity|].
  rewrite (proj1 (steady_next C A s)), (IH ltac:(lia)).
  destruct (busy_since C (steady C A) (steady_is_cbr_delay C A HC HA)) with (t := s) as (t0 & before & busy).
  { unfold admitted. simpl. rewrite (proj1 HA). lra. }
  rewrite busy. unfold admitted.
  pose proof (loss_never_shrinks C _ (steady_is_cbr_delay C A HC HA) t0 s before) as none.
  rewrite (IH ltac:(lia)) in none.
  specialize (H t0 (S s) ltac:(lia)). replace (S s - t0)%nat with (S (s - t0)) in H by lia. rewrite S_INR in H.
  apply Rmax_left. change (sent (steady C A)) with A. lra.
Qed.

(* Every link of rate C_Llambda or more, that at C_Llambda first, shows the same: all that was sent, after R_m + D.
   (Shorter RTTs rule out more links than D.1 does: those that have not served what was acknowledged.) *)
Theorem step_2_tight C A t : grows A -> C_Llambda A t <= C ->
  cbr_delay C (steady C A) /\ steady_delay (steady C A) /\
  forall s, (s <= t)%nat -> lost (steady C A) s = 0 /\ served (steady C A) (s + D) = A s.
Proof.
  intros HA H. apply C_Llambda_least in H. destruct H as [above H]. assert (HC : 0 <= C) by lra.
  split; [apply steady_is_cbr_delay; assumption|]. split; [apply steady_has_steady_delay|].
  intros s order. pose proof (explained_without_loss C A t HC HA H s order) as none. split; [exact none|].
  rewrite steady_has_steady_delay. unfold admitted. rewrite none. simpl. lra.
Qed.

(** * Step 4. How fast C_Llambda can grow *)

(* F k is the highest rate that k round trips can reach. *)
Fixpoint F (f : R -> R) (k : nat) : R :=
  match k with
  | O => C_0
  | S j => F f j + f (F f j) / bs
  end.

(* n <= F^-1( C ), where F^-1( C ) is the least k with F k >= C. *)
Definition at_most_F_inverse f C n := forall k, (k < n)%nat -> F f k < C.

Definition allowance (f : R -> R) := forall C, C_0 <= C -> 0 <= f C.

Lemma F_at_least_C_0 f : allowance f -> forall k, C_0 <= F f k.
Proof.
  intros Hf. induction k as [|k IH]; simpl; [lra|].
  assert (0 <= f (F f k) / bs); [|lra].
  apply Rmult_le_pos; [auto | left; apply Rinv_0_lt_compat; lra].
Qed.

(* Risking at most `risk` above C allows rates of C + risk / bs, over any interval. *)
Lemma excess_at_most C risk length : 0 <= risk -> 0 <= length ->
  C * (length + bs) + risk <= (C + risk / bs) * (length + bs).
Proof.
  intros. assert (0 <= risk / bs) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
  replace ((C + risk / bs) * (length + bs)) with (C * (length + bs) + risk / bs * length + risk) by (field; lra).
  assert (0 <= risk / bs * length) by (apply Rmult_le_pos; assumption). lra.
Qed.

(* Eq. D.3: risking at most f on the link at C_Llambda, a controller raises it by f / bs at most in a round trip. *)
Theorem step_4_growth f A t trip : 0 <= f (C_Llambda A t) ->
  (forall t1 t2, (t1 <= t2 <= t + trip)%nat ->
    A t2 - A t1 - C_Llambda A t * (INR (t2 - t1) + bs) <= f (C_Llambda A t)) ->
  C_Llambda A (t + trip) <= C_Llambda A t + f (C_Llambda A t) / bs.
Proof.
  intros Hf risks. apply C_Llambda_least. split.
  - assert (0 <= f (C_Llambda A t) / bs) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
    destruct (proj1 (C_Llambda_least A _ t) (Rle_refl _)). lra.
  - intros t1 t2 order. specialize (risks t1 t2 order).
    pose proof (excess_at_most (C_Llambda A t) _ (INR (t2 - t1)) Hf (pos_INR _)). lra.
Qed.

(* What Step 4 needs of f: no rate within reach at k lets a controller jump past F ( k + 1 ). *)
Definition no_shortcut f := forall k C, C_0 <= C <= F f k -> C + f C / bs <= F f (S k).

Lemma monotone_has_no_shortcut f :
  (forall C C', C_0 <= C <= C' -> C + f C / bs <= C' + f C' / bs) -> no_shortcut f.
Proof. intros monotone k C within. apply monotone. exact within. Qed.

Theorem step_4_no_faster f (c : nat -> R) : no_shortcut f -> c 0%nat = C_0 ->
  (forall k, C_0 <= c k) -> (forall k, c (S k) <= c k + f (c k) / bs) ->
  forall k, c k <= F f k.
Proof.
  intros H start above risks. induction k as [|k IH].
  - simpl. lra.
  - eapply Rle_trans; [apply risks | apply H; auto].
Qed.

(* And no less will do: a shortcut can be taken. *)
Theorem step_4_needs_no_shortcut f k C : allowance f -> C_0 <= C <= F f k -> F f (S k) < C + f C / bs ->
  exists c, c 0%nat = C_0 /\ (forall j, C_0 <= c j) /\
    (forall j, (j <= k)%nat -> c (S j) <= c j + f (c j) / bs) /\ F f (S k) < c (S k).
Proof.
  intros Hf [above within] short.
  assert (gains : forall C', C_0 <= C' -> C' <= C' + f C' / bs).
  { intros C' above'. assert (0 <= f C' / bs); [|lra].
    apply Rmult_le_pos; [auto | left; apply Rinv_0_lt_compat; lra]. }
  exists (fun j => if le_lt_dec j k then Rmin C (F f j) else C + f C / bs). split; [|split; [|split]].
  - simpl. apply Rmin_right. exact above.
  - intro j. destruct le_lt_dec.
    + apply Rmin_glb; [exact above | apply F_at_least_C_0; exact Hf].
    + pose proof (gains C above). lra.
  - intros j order. destruct (le_lt_dec j k) as [_|]; [|lia]. destruct (le_lt_dec (S j) k) as [next | last].
    + pose proof (Rmin_l C (F f (S j))). pose proof (Rmin_r C (F f (S j))) as reach. simpl in reach.
      pose proof (gains C above). unfold Rmin at 2 3. destruct Rle_dec; simpl in *; lra.
    + replace j with k by lia. rewrite (Rmin_left _ _ within). lra.
  - destruct le_lt_dec; [lia | exact short].
Qed.

(** * All steps together *)

Variable Rm : nat. (* R_m, in steps *)
Variable lag : nat. (* after R_m, a loss shows this many steps late: 1 in the encoding, D in the paper *)
Variable packet : R. (* alpha: a controller sends that much a step, or more *)

Hypothesis Rm_positive : (1 <= Rm)%nat.
Hypothesis loss_shows : (lag <= D)%nat.
Hypothesis packet_nonnegative : 0 <= packet.

Definition trip : nat := Rm + lag. (* a round trip: R_m + D, where a loss shows as late as a byte may *)

(* What a sender has seen by t: bytes served, bytes lost, delays. *)
Definition seen x t :=
  let arrival := (t + 1 - Rm)%nat in
  (served x arrival, lost x (arrival - lag), last_delay x arrival, first_delay x arrival).

Definition observed x t := map (seen x) (seq 0 (S t)).

(* A deterministic controller: what it has observed since the start determines what it sends in the next step. *)
Definition controller := list (R * R * nat * nat) -> R.

Definition drives (cca : controller) x := forall t, sent x (S t) = sent x t + Rmax packet (cca (observed x t)).

(* On a link of rate C, the controller loses at most f( C ) before it can have seen that it loses. No more is asked of
   it: nothing about later losses, and nothing where the path does not start empty. *)
Definition risks_at_most f cca :=
  forall C x, C_0 <= C -> cbr_delay C x -> starts_empty x -> drives cca x ->
  forall t, lost x t = 0 -> lost x (t + trip) <= f C.

(* Step 1 for a controller: on link II it sends the same. *)
Lemma step_1_same_controller cca C x : drives cca x -> drives cca (on_link C x).
Proof. trivial. Qed.

(* Nothing sent by t depends on what is sent after t, so every link has an execution under every controller. *)
Lemma causal_execution (next : nat -> (nat -> R) -> R) :
  (forall t A B, (forall s, (s <= t)%nat -> A s = B s) -> next t A = next t B) ->
  exists A, A 0%nat = 0 /\ forall t, A (S t) = A t + next t A.
Proof.
  intro causal.
  pose (extend := fun A => fix B t := match t with O => 0 | S s => B s + next s A end).
  pose (upto := fix upto n := match n with O => fun _ => 0 | S m => extend (upto m) end).
  assert (stable : forall n s, (s <= n)%nat -> upto (S n) s = upto n s).
  { induction n as [|n IH]; intros s order; [replace s with 0%nat by lia; reflexivity|].
    change (extend (upto (S n)) s = extend (upto n) s). induction s as [|s IHs]; [reflexivity|].
    change (extend (upto (S n)) s + next s (upto (S n)) = extend (upto n) s + next s (upto n)).
    rewrite (IHs ltac:(lia)). f_equal. apply causal. intros r before. apply IH. lia. }
  assert (settled : forall n s, (s <= n)%nat -> upto n s = upto s s).
  { intros n s order. induction order as [|n order IH]; [reflexivity|]. rewrite stable; assumption. }
  exists (fun t => upto t t). split; [reflexivity|]. intro t.
  change (upto (S t) (S t)) with (upto (S t) t + next t (upto t)). rewrite stable by lia. f_equal.
  apply causal. intros s order. apply settled. exact order.
Qed.

Lemma link_causal C A B t : (forall s, (s <= t)%nat -> A s = B s) -> link C A t = link C B t.
Proof.
  induction t as [|t IH]; intro same; [reflexivity|].
  simpl. rewrite IH by auto. rewrite (same (S t)) by lia. reflexivity.
Qed.

Lemma observed_alike x y t : (forall s, (s <= t)%nat -> seen x s = seen y s) -> observed x t = observed y t.
Proof. intro same. apply map_ext_in. intros s within. apply in_seq in within. apply same. lia. Qed.

Lemma execution_exists C cca : 0 <= C -> exists A, grows A /\ drives cca (steady C A).
Proof.
  intro HC. destruct (causal_execution (fun t A => Rmax packet (cca (observed (steady C A) t))))
    as (A & start & drives_A).
  - intros t A B same. do 2 f_equal. apply observed_alike. intros s order. unfold seen, steady. simpl.
    rewrite !(link_causal C A B) by (intros; apply same; lia). rewrite (same (s + 1 - Rm - D)%nat) by lia. reflexivity.
  - exists A. split; [|exact drives_A]. split; [exact start|]. intro t. rewrite drives_A.
    pose proof (Rmax_l packet (cca (observed (steady C A) t))). lra.
Qed.

(* Two links that explain what was sent by t have shown the same before t + trip, so were sent the same. *)
Lemma links_alike C C' A B cca t : 0 <= C -> 0 <= C' -> grows A -> grows B ->
  drives cca (steady C A) -> drives cca (steady C' B) -> explains C A t -> explains C' A t ->
  (forall s, (s <= t + trip)%nat -> A s = B s) /\
  (forall s, (s < t + trip)%nat -> seen (steady C A) s = seen (steady C' B) s).
Proof.
  unfold trip. intros HC HC' HA HB drives_A drives_B explained explained'.
  assert (alike : forall s, (s < t + (Rm + lag))%nat -> (forall r, (r <= s)%nat -> A r = B r) ->
    seen (steady C A) s = seen (steady C' B) s).
  { intros s order same.
    assert (none : forall r, (r <= s + 1 - Rm - lag)%nat -> fst (link C A r) = 0 /\ fst (link C' B r) = 0).
    { intros r Hr. rewrite <- (link_causal C' A B r) by (intros; apply same; lia). split.
      - apply (explained_without_loss C A t); trivial. lia.
      - apply (explained_without_loss C' A t); trivial. lia. }
    unfold seen, steady. simpl.
    destruct (none (s + 1 - Rm - lag)%nat ltac:(lia)) as [-> ->].
    destruct (none (s + 1 - Rm - D)%nat ltac:(lia)) as [-> ->].
    rewrite (same (s + 1 - Rm - D)%nat) by lia. reflexivity. }
  assert (same : forall n, (n <= t + (Rm + lag))%nat -> forall s, (s <= n)%nat -> A s = B s).
  { induction n as [|n IH]; intros order s Hs.
    - replace s with 0%nat by lia. rewrite (proj1 HA), (proj1 HB). reflexivity.
    - destruct (Nat.eq_dec s (S n)) as [-> | earlier]; [|apply IH; lia].
      pose proof (drives_A n) as next_A. pose proof (drives_B n) as next_B. simpl in next_A, next_B.
      rewrite next_A, next_B, (IH ltac:(lia) n ltac:(lia)). do 3 f_equal. apply observed_alike. intros r Hr.
      apply alike; [lia|]. intros q Hq. apply IH; lia. }
  split; [intros s order; apply (same s); lia|]. intros s order. apply alike; [exact order|].
  intros r Hr. apply (same r); lia.
Qed.

Lemma explains_more C C' A t : C <= C' -> explains C A t -> explains C' A t.
Proof.
  intros faster H t1 t2 order. eapply Rle_trans; [exact (H t1 t2 order)|].
  apply Rmult_le_compat_r; [pose proof (pos_INR (t2 - t1)); lra | exact faster].
Qed.

(* Step 4 for a controller that may be on any link, by induction: the link at F k explains what was seen in k round
   trips, so what is risked on it in the next is at most f( F k ). No_shortcut is needed only where a controller need
   heed no link but that at C_Llambda. *)
Lemma F_bounds_C_Llambda f C A cca : allowance f -> risks_at_most f cca -> C_0 <= C ->
  grows A -> drives cca (steady C A) ->
  forall k, at_most_F_inverse f C k -> C_Llambda A (k * trip) <= F f k.
Proof.
  intros Hf risks HC HA drives_A. induction k as [|k IH]; intro below.
  { apply C_Llambda_least. split; [simpl; lra | apply explains_at_start; simpl; lra]. }
  assert (slower : F f k < C) by (apply below; lia).
  assert (Hk := F_at_least_C_0 f Hf k). assert (Hfk := Hf _ Hk).
  assert (explained : explains (F f k) A (k * trip)).
  { apply C_Llambda_least. apply IH. intros j Hj. apply below. lia. }
  destruct (execution_exists (F f k) cca) as (B & HB & drives_B); [lra|].
  destruct (links_alike C (F f k) A B cca (k * trip)) as [same _]; trivial; try lra.
  { apply (explains_more (F f k)); [lra | exact explained]. }
  assert (link_B := steady_is_cbr_delay (F f k) B ltac:(lra) HB).
  assert (lossless_B : lost (steady (F f k) B) (k * trip) = 0).
  { apply (explained_without_loss (F f k) B (k * trip)); trivial; [lra|].
    intros t1 t2 order. rewrite <- !same by lia. apply explained. exact order. }
  assert (risked := risks (F f k) (steady (F f k) B) Hk link_B
    (conj (proj1 HB) (conj eq_refl eq_refl)) drives_B (k * trip)%nat lossless_B).
  apply C_Llambda_least. split; [apply F_at_least_C_0; exact Hf|]. intros t1 t2 order.
  replace (S k * trip)%nat with (k * trip + trip)%nat in order by (simpl; lia). rewrite !same by lia.
  pose proof (step_3_loss_risked (F f k) _ t1 t2 ltac:(lra) link_B ltac:(lia)) as excess.
  pose proof (loss_never_shrinks _ _ link_B 0 t1 ltac:(lia)) as first.
  pose proof (loss_never_shrinks _ _ link_B t2 (k * trip + trip) ltac:(lia)) as last.
  change (lost (steady (F f k) B) 0) with 0 in first.
  change (sent (steady (F f k) B)) with B in excess. change (F f (S k)) with (F f k + f (F f k) / bs).
  pose proof (excess_at_most (F f k) (f (F f k)) (INR (t2 - t1)) Hfk (pos_INR _)). lra.
Qed.

(* x is an execution of the controller on the link of rate C, from an empty path, with every RTT R_m + D. *)
Definition execution cca C x := cbr_delay C x /\ starts_empty x /\ drives cca x /\ steady_delay x.

(* Theorem 6.1 in its general form: a deterministic controller that risks at most f on every link has not reached C
   before F^-1( C ) round trips. Until then it has seen no loss, the links that explain what it saw begin below C
   ( at F( n ) after n round trips, at most ), and, as in Step 1, every faster link shows it the same. *)
Theorem loss_convergence cca f C : allowance f -> risks_at_most f cca -> C_0 <= C ->
  exists x, execution cca C x /\
    (forall n, at_most_F_inverse f C n ->
      C_Llambda (sent x) (n * trip) <= F f n /\
      forall t, (t < n * trip)%nat -> C_Llambda (sent x) (t + 1 - trip) < C /\ lost x (t + 1 - trip) = 0) /\
    (forall C', C <= C' -> exists y, execution cca C' y /\
      forall n, at_most_F_inverse f C n ->
      forall t, (t < n * trip)%nat -> seen y t = seen x t /\ sent y (S t) = sent x (S t)).
Proof.
  intros Hf risks HC.
  assert (executes : forall C A, C_0 <= C -> grows A -> drives cca (steady C A) -> execution cca C (steady C A)).
  { intros C1 A HC1 HA drives_A. split; [apply steady_is_cbr_delay; [lra | exact HA]|].
    split; [split; [apply HA | split; reflexivity]|]. split; [exact drives_A | apply steady_has_steady_delay]. }
  destruct (execution_exists C cca) as (A & HA & drives_A); [lra|].
  assert (bound := F_bounds_C_Llambda f C A cca Hf risks HC HA drives_A).
  assert (explained : forall n, at_most_F_inverse f C (S n) -> F f n < C /\ explains (F f n) A (n * trip)).
  { intros n below. split; [apply below; lia|]. apply C_Llambda_least. apply bound. intros k Hk. apply below. lia. }
  exists (steady C A). split; [auto|]. split.
  - intros n below. split; [apply bound; exact below|]. intros t early.
    destruct n as [|n]; [lia|]. destruct (explained n below) as [slower H]. simpl in early.
    assert (H' : explains (F f n) A (t + 1 - trip)) by (intros t1 t2 order; apply H; lia). split.
    + apply Rle_lt_trans with (F f n); [|exact slower]. apply C_Llambda_least.
      split; [apply F_at_least_C_0; exact Hf | exact H'].
    + apply (explained_without_loss C A (t + 1 - trip)); trivial; [lra|].
      apply (explains_more (F f n)); [lra | exact H'].
  - intros C' faster. destruct (execution_exists C' cca) as (B & HB & drives_B); [lra|].
    exists (steady C' B). split; [apply executes; trivial; lra|]. intros n below t early.
    destruct n as [|n]; [lia|]. destruct (explained n below) as [slower H]. simpl in early.
    destruct (links_alike C C' A B cca (n * trip)) as [same_sent same_seen]; trivial; try lra.
    + apply (explains_more (F f n)); [lra | exact H].
    + apply (explains_more (F f n)); [lra | exact H].
    + split; [symmetry; apply same_seen; lia | symmetry; apply same_sent; lia].
Qed.

(* Theorem 6.1 itself: whoever risks at most `a` bytes on every link needs time proportional to C. *)
Lemma F_of_constant a k : F (fun _ => a) k = C_0 + INR k * a / bs.
Proof. induction k as [|k IH]; [simpl | rewrite S_INR; simpl; rewrite IH]; field; lra. Qed.

Corollary constant_allowance cca a C : 0 < a -> risks_at_most (fun _ => a) cca -> C_0 <= C ->
  exists x, execution cca C x /\
    forall t, C <= C_Llambda (sent x) (t + 1 - trip) \/ 0 < lost x (t + 1 - trip) ->
      (C - C_0) * bs / a * INR trip <= INR t.
Proof.
  intros Ha risks HC. destruct (loss_convergence cca (fun _ => a) C) as (x & executes & slow & _); trivial.
  { intros C' _. lra. }
  exists x. split; [exact executes|]. intros t converged. apply Rnot_lt_le. intro early.
  assert (trip_positive : (trip <> 0)%nat) by (unfold trip; lia).
  assert (bound : forall k, INR k * INR trip <= INR t -> F (fun _ => a) k < C).
  { intros k Hk. assert (0 < INR trip) by (apply lt_0_INR; lia). rewrite F_of_constant.
    assert (short : INR k < (C - C_0) * bs / a) by (apply (Rmult_lt_reg_r (INR trip)); lra).
    apply (Rmult_lt_compat_r (a / bs)) in short; [|apply Rdiv_lt_0_compat; assumption].
    replace ((C - C_0) * bs / a * (a / bs)) with (C - C_0) in short by (field; lra).
    replace (INR k * a / bs) with (INR k * (a / bs)) by (field; lra). lra. }
  pose proof (Nat.div_mod t trip trip_positive) as parts.
  pose proof (Nat.mod_upper_bound t trip trip_positive) as rest.
  destruct (slow (S (t / trip))) as [_ before].
  - intros k Hk. apply bound. rewrite <- mult_INR. apply le_INR.
    apply Nat.le_trans with (t / trip * trip)%nat; [apply Nat.mul_le_mono_r; lia | lia].
  - destruct (before t); [simpl; lia | lra].
Qed.

(* The hypothesis can be met, with f = 0: sending at C_0 loses nothing. *)
Lemma some_controller_risks_nothing : packet <= C_0 -> risks_at_most (fun _ => 0) (fun _ => C_0).
Proof.
  intros small C x HC H (A0 & L0 & K0) drives_x t _.
  assert (0 <= C * bs) by (apply Rmult_le_pos; lra).
  assert (calm : forall s, lost x s = 0 /\ admitted x s = tokens x s).
  { induction s as [|s [no_loss drained]]; [unfold admitted; lra|].
    pose proof (drives_x s) as next. rewrite Rmax_right in next by exact small.
    pose proof (serves_at_link_rate C x H s) as serves. pose proof (loss_is_of_new_bytes C x H s) as new_bytes.
    pose proof (loss_grows C x H s). unfold admitted in *.
    destruct (Rlt_le_dec (tokens x (S s) + C * bs) (sent x (S s) - lost x s)) as [full | fits].
    - pose proof (overflow_is_lost C x H s full) as overflow. unfold admitted in overflow.
      revert serves. unfold Rmin. destruct Rle_dec; intro; [lra|].
      assert (C * bs = 0) by lra. assert (C = 0) by (apply (Rmult_eq_reg_r bs); lra). lra.
    - pose proof (only_overflow_is_lost C x H s fits). revert serves. unfold Rmin. destruct Rle_dec; lra. }
  rewrite (proj1 (calm _)). lra.
Qed.

End LossConvergence.

Print Assumptions step_1_reproduces.
Print Assumptions step_1_must_lose.
Print Assumptions step_2_sound.
Print Assumptions step_2_tight.
Print Assumptions step_3_loss_risked.
Print Assumptions step_3_exact.
Print Assumptions step_4_growth.
Print Assumptions step_4_no_faster.
Print Assumptions step_4_needs_no_shortcut.
Print Assumptions loss_convergence.
Print Assumptions constant_allowance.
Print Assumptions some_controller_risks_nothing.
