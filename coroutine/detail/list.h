// SPDX-License-Identifier: MIT
// A doubly linked list through nodes that live inside its elements: no allocation, O(1) removal.
#pragma once

namespace corolane::coroutine::detail {

// Derive from ListNode<Tag> once for each list that an element can be in at the same time.
template <typename Tag>
class ListNode {
 public:
  ListNode() {}  // NOLINT(modernize-use-equals-default): a list that takes it links it.
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;

  void unlink() {
    previous_->next_ = next_;
    next_->previous_ = previous_;
  }

 private:
  template <typename, typename>
  friend class List;

  ListNode* next_;
  ListNode* previous_;
};

template <typename T, typename Tag>
class List {
  using Node = ListNode<Tag>;

 public:
  List() { head_.next_ = head_.previous_ = &head_; }

  bool empty() const { return head_.next_ == &head_; }
  T& front() { return *static_cast<T*>(head_.next_); }

  void push_back(T& element) {
    Node& node = element;
    node.previous_ = head_.previous_;
    node.next_ = &head_;
    head_.previous_->next_ = &node;
    head_.previous_ = &node;
  }

  T& pop_front() {
    T& element = front();
    static_cast<Node&>(element).unlink();
    return element;
  }

  // Moves every element of `other` behind those of this list, in their order.
  void take_all(List& other) {
    if (other.empty()) return;
    other.head_.next_->previous_ = head_.previous_;
    head_.previous_->next_ = other.head_.next_;
    other.head_.previous_->next_ = &head_;
    head_.previous_ = other.head_.previous_;
    other.head_.next_ = other.head_.previous_ = &other.head_;
  }

  // Visits every element; `visit` may unlink the element that it receives, and no other.
  template <typename F>
  void for_each(F&& visit) const {
    for_each_while([&](T& element) {
      visit(element);
      return true;
    });
  }

  // The same until `visit` returns false; from the element behind `place` on, if there is one.
  template <typename F>
  void for_each_while(F&& visit, T* place = nullptr) const {
    const Node& before = place == nullptr ? head_ : static_cast<const Node&>(*place);
    for (Node* node = before.next_; node != &head_;) {
      Node* const next = node->next_;
      if (!visit(*static_cast<T*>(node))) return;
      node = next;
    }
  }

  // The same from the last element to the first.
  template <typename F>
  void for_each_back_while(F&& visit) const {
    for (Node* node = head_.previous_; node != &head_;) {
      Node* const previous = node->previous_;
      if (!visit(*static_cast<T*>(node))) return;
      node = previous;
    }
  }

 private:
  Node head_;
};

}  // namespace corolane::coroutine::detail
